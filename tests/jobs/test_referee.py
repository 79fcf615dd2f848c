"""What the referee hands to a trial, without a study around it."""

from harness.jobs.referee import seed_sequence


def test_randomness_depends_on_study_data_set_and_seed_alone():
    def draw(*key):
        return seed_sequence(*key).generate_state(4).tolist()

    assert draw(1, "wine", 2) == draw(1, "wine", 2)
    others = [
        draw(*key) for key in ((1, "wine", 2), (2, "wine", 2), (1, "iris", 2), (1, "wine", 3))
    ]
    assert len({tuple(state) for state in others}) == 4
