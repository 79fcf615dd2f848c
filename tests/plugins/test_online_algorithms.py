"""Online kernel machines against the steps of their papers."""

import numpy as np
import pytest
from online_kernels.bogd import BoundedOGD
from online_kernels.bsgd import BudgetedSGD
from online_kernels.dual_space import DualSpaceSGD
from online_kernels.feature_descent import FourierOGD, NystromOGD
from online_kernels.passive_aggressive import BudgetPassiveAggressive
from online_kernels.perceptrons import Forgetron, RandomizedBudgetPerceptron
from online_kernels.projectrons import Projectron, ProjectronPlusPlus
from online_textbook import (
    AS_GIVEN,
    Expansion,
    assert_same,
    directions,
    gaussian,
    perceptron,
    problem,
    run,
)
from scipy.optimize import minimize_scalar


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "machine",
    [
        RandomizedBudgetPerceptron(budget=400, **AS_GIVEN),
        Projectron(budget=400, eta=0.0, **AS_GIVEN),
    ],
)
def test_with_room_for_all_it_is_the_kernel_perceptron(machine, n_classes):
    X, y = problem(n_classes)
    expected = run(X, y, perceptron, n_machines=1 if n_classes == 2 else n_classes)
    assert_same(machine, X, y, *expected)


def test_randomized_budget_perceptron():
    X, y = problem()
    rng = np.random.RandomState(0)
    slots = {}

    def update(f, t, direction, margin):
        if len(f.rows) < 12:
            f.append(t, direction)
        else:
            slot = rng.randint(12)
            f.rows[slot], f.coef[slot] = t, direction
            slots[slot] = t

    machine = RandomizedBudgetPerceptron(budget=12, **AS_GIVEN)
    assert_same(machine, X, y, *run(X, y, update))
    assert len(slots) > 5


def test_forgetron():
    """phi by bisection of the definition, not by its closed form."""
    X, y = problem()
    state = {"Q": 0.0, "M": 0, "shrunk": 0}

    def update(f, t, direction, margin):
        state["M"] += 1
        f.append(t, direction)
        if len(f.rows) <= 12:
            return
        sign, age = np.sign(f.coef[0, 0]), abs(f.coef[0, 0])
        mu = sign * f.scores(f.rows[0])[0]

        def damage(phi):
            return (phi * age) ** 2 + 2 * phi * age * (1 - phi * mu)

        def allowed(phi):
            return damage(phi) + state["Q"] <= 15 / 32 * state["M"]

        low, high = 0.0, 1.0
        if allowed(1.0):
            low = 1.0
        else:
            state["shrunk"] += 1
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if allowed(middle) else (low, middle)
        state["Q"] += damage(low)
        f.coef *= low
        f.drop(0)

    machine = Forgetron(budget=12, **AS_GIVEN)
    assert_same(machine, X, y, *run(X, y, update))
    assert state["shrunk"] > 5
    assert machine.damage_ == pytest.approx(state["Q"], rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forgetron_never_does_more_damage_than_mistakes_allow(n_classes):
    X, y = problem(n_classes, 300)
    machine = Forgetron(budget=10, epochs=3, random_state=1)
    for _ in machine.fit_steps(X, y):
        assert machine.damage_ <= 15 / 32 * machine._n_updates + 1e-9


def test_mistakes_of_the_forgetron_are_bounded():
    """By 2 |g|^2 + 4 x the loss of g, if |g| <= sqrt((B + 1) / log(B + 1)) / 4."""
    budget, rng = 500, np.random.default_rng(3)
    centers = np.array([[0.0, 0.0], [4.0, 0.0]])
    norm = np.sqrt((budget + 1) / np.log(budget + 1)) / 4
    K = gaussian(centers, centers)
    weights = np.array([1.0, -1.0])
    weights *= norm / np.sqrt(weights @ K @ weights)
    X = rng.uniform([-2, -2], [6, 2], size=(3000, 2))
    g = gaussian(X, centers) @ weights
    y, loss = (g > 0).astype(int), np.maximum(0, 1 - np.abs(g))
    sure = loss == 0
    assert sure.sum() > 300
    machine = Forgetron(budget=budget, **AS_GIVEN).fit(X[sure], y[sure])
    assert 0 < machine.mistakes_ <= 2 * norm**2
    few = loss < 0.1
    machine = Forgetron(budget=budget, **AS_GIVEN).fit(X[few], y[few])
    assert 0 < machine.mistakes_ <= 2 * norm**2 + 4 * loss[few].sum()


def projected(f, t):
    """Coefficients of the nearest combination of the support vectors, and the distance^2."""
    K, k = f.K[np.ix_(f.rows, f.rows)], f.K[t, f.rows]
    d = np.linalg.solve(K + 1e-6 * np.eye(len(k)), k)
    return d, k, max(1 - k @ d, 0)


@pytest.mark.parametrize(("budget", "eta"), [(12, 0.2), (100, 0.6)])
@pytest.mark.parametrize("plus", [False, True])
def test_projectron_and_projectron_plus_plus(plus, budget, eta):
    X, y = problem()
    seen = set()

    def update(f, t, direction, margin):
        if not f.rows:
            f.append(t, direction)
            return
        d, k, distance = projected(f, t)
        if margin > 0:
            loss, away = 1 - margin, np.sqrt(distance)
            if loss > away / eta:
                step = min(loss / (k @ d), 2 * (loss - away / eta) / (k @ d), 1)
                f.coef += np.outer(step * d, direction)
                seen.add("margin")
        elif distance <= eta**2 or len(f.rows) == budget:
            f.coef += np.outer(d, direction)
            seen.add("projected")
        else:
            f.append(t, direction)

    kind = ProjectronPlusPlus if plus else Projectron
    machine = kind(budget=budget, eta=eta, **AS_GIVEN)
    assert_same(machine, X, y, *run(X, y, update, least=1.0 if plus else 0.0))
    assert "projected" in seen
    assert ("margin" in seen) == plus


def test_passive_aggressive_steps_are_those_that_minimise_the_objective():
    """|f - f_t|^2 / 2 + C loss, over which one goes and the new coefficient: by search."""
    X, y = problem(per_class=40)
    C = 0.7

    def update(f, t, direction, margin):
        sign = direction[0]
        if len(f.rows) < 12:
            f.append(t, [sign * min(C, 1 - margin)])
            return
        best = (np.inf, 0, 0.0)
        for slot, (row, alpha) in enumerate(zip(f.rows, f.coef[:, 0], strict=True)):
            k = f.K[row, t]

            def objective(beta, alpha=alpha, k=k):
                away = alpha**2 + beta**2 - 2 * alpha * beta * k
                return away / 2 + C * max(0, 1 - margin + sign * alpha * k - sign * beta)

            found = minimize_scalar(objective, bounds=(-4, 4), method="bounded")
            best = min(best, (found.fun, slot, found.x))
        f.rows[best[1]], f.coef[best[1]] = t, best[2]

    f, mistakes = run(X, y, update, least=1.0)
    machine = BudgetPassiveAggressive(budget=12, C=C, **AS_GIVEN).fit(X, y)
    expected = f.all_scores()[:, 0]
    # a search in one dimension ends 1e-5 beside the minimum, and a corner is found less well
    np.testing.assert_allclose(machine.decision_function(X), expected, atol=0.01)
    assert machine.mistakes_ == mistakes


def pegasos(X, y, alpha, maintain=lambda f: None, n_machines=1):
    """w as the paper writes it: shrunk at every step."""

    def shrink(f, t):
        f.coef = f.coef * (1 - 1 / (t + 1))

    def update(f, t, direction, margin):
        f.append(t, direction / (alpha * (t + 1)))
        maintain(f)

    return run(X, y, update, least=1.0, n_machines=n_machines, before=shrink)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "machine",
    [
        *(BudgetedSGD(maintenance=m) for m in ("removal", "projection", "merging")),
        DualSpaceSGD(),
    ],
)
def test_with_room_for_all_it_is_pegasos(machine, n_classes):
    X, y = problem(n_classes)
    machine.set_params(budget=400, alpha=0.01, **AS_GIVEN)
    assert_same(machine, X, y, *pegasos(X, y, 0.01, n_machines=1 if n_classes == 2 else 4))


def test_removal_drops_the_oldest_of_equals():
    X, y = problem()
    expected = pegasos(X, y, 0.01, lambda f: f.drop(0) if len(f.rows) > 12 else None)
    machine = BudgetedSGD(budget=12, alpha=0.01, maintenance="removal", **AS_GIVEN)
    assert_same(machine, X, y, *expected)


def test_projection_drops_the_one_that_is_lost_least():
    X, y = problem()

    def maintain(f):
        if len(f.rows) <= 12:
            return
        lost = []
        for slot in range(len(f.rows)):
            others = f.rows[:slot] + f.rows[slot + 1 :]
            K = f.K[np.ix_(others, others)] + 1e-6 * np.eye(len(others))
            d = np.linalg.solve(K, f.K[f.rows[slot], others])
            distance = 1 + 1e-6 - f.K[f.rows[slot], others] @ d
            lost.append((f.coef[slot, 0] ** 2 * distance, slot, d))
        _, slot, d = min(lost, key=lambda one: one[:2])
        alpha = f.coef[slot]
        f.drop(slot)
        f.coef += np.outer(d, alpha)

    machine = BudgetedSGD(budget=12, alpha=0.01, maintenance="projection", **AS_GIVEN)
    assert_same(machine, X, y, *pegasos(X, y, 0.01, maintain))


def test_bounded_ogd():
    X, y = problem()
    eta, decay, gamma, budget = 0.3, 0.05, 3.0, 12
    rng, capped = np.random.RandomState(0), []

    def shrink(f, t):
        f.coef = f.coef * (1 - eta * decay)

    def update(f, t, direction, margin):
        if len(f.rows) < budget:
            f.append(t, eta * direction)
            return
        f.coef *= budget / (budget - 1)
        slot = rng.randint(budget)
        f.rows[slot], f.coef[slot] = t, eta * direction
        largest = np.abs(f.coef).max()
        if largest > gamma * eta:
            capped.append(t)
            f.coef *= gamma * eta / largest

    expected = run(X, y, update, least=1.0, before=shrink)
    machine = BoundedOGD(budget=budget, eta0=eta, alpha=decay, gamma=gamma, **AS_GIVEN)
    assert_same(machine, X, y, *expected)
    assert capped


def descent(Z, y, w, eta, n_machines=1):
    """Online gradient descent on the hinge loss of features."""
    mistakes = 0
    for z, label in zip(Z, y, strict=True):
        direction, margin = directions(label, z @ w, n_machines)
        mistakes += margin <= 0
        if margin < 1:
            w = w + eta * np.outer(z, direction)
    return w, mistakes


@pytest.mark.parametrize("n_classes", [2, 4])
def test_fogd_is_gradient_descent_on_random_features(n_classes):
    X, y = problem(n_classes)
    machine = FourierOGD(n_components=60, eta0=0.3, **AS_GIVEN).fit(X, y)
    Z, Q = machine._map.transform(X).astype(float), 1 if n_classes == 2 else n_classes
    w, mistakes = descent(Z, y, np.zeros((60, Q)), 0.3, Q)
    np.testing.assert_allclose(machine.coef_, w, atol=1e-4)
    assert machine.mistakes_ == mistakes


@pytest.mark.parametrize("n_classes", [2, 4])
def test_nogd_is_gradient_descent_on_nystrom_features(n_classes):
    X, y = problem(n_classes)
    Q, budget, rank, eta = 1 if n_classes == 2 else n_classes, 30, 7, 0.3
    first = []

    def update(f, t, direction, margin):
        if len(f.rows) < budget:
            f.append(t, eta * direction)
            first.append(t)

    f, _ = run(X, y, update, least=1.0, n_machines=Q)
    start = first[-1] + 1
    e, V = np.linalg.eigh(gaussian(X[first], X[first]))
    e, V = e[::-1][:rank], V[:, ::-1][:, :rank]
    Z = gaussian(X, X[first]) @ V / np.sqrt(e)
    w, mistakes = descent(Z[start:], y[start:], (V.T @ f.coef) * np.sqrt(e)[:, None], eta, Q)
    machine = NystromOGD(budget=budget, rank=rank, eta0=eta, **AS_GIVEN).fit(X, y)
    found = machine.decision_function(X).reshape(len(X), Q)
    np.testing.assert_allclose(found, Z @ w, atol=2e-4 * np.ptp(Z @ w))
    first.clear()
    f, mistakes_before = run(X[:start], y[:start], update, least=1.0, n_machines=Q)
    assert machine.mistakes_ == mistakes + mistakes_before


def test_what_dual_space_descent_gives_up_goes_on_in_random_features():
    X, y = problem()
    machine = DualSpaceSGD(budget=12, k=5, n_components=40, alpha=0.01, **AS_GIVEN).fit(X, y)
    Z, moved = machine._map.transform(X - machine._kernel.center).astype(float), []
    w = np.zeros((40, 1))
    f, mistakes = Expansion(X), 0
    for t in range(len(X)):
        scores = f.scores(t) + Z[t] @ w
        direction, margin = directions(y[t], scores, 1)
        mistakes += margin <= 0
        f.coef, w = f.coef * (1 - 1 / (t + 1)), w * (1 - 1 / (t + 1))
        if margin < 1:
            f.append(t, direction / (0.01 * (t + 1)))
            if len(f.rows) > 12:
                for _ in range(5):  # all have the same |alpha|: the oldest
                    w += np.outer(Z[f.rows[0]], f.coef[0])
                    moved.append(f.rows[0])
                    f.drop(0)
    expected = (f.all_scores() + Z @ w)[:, 0]
    found = machine.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.ptp(expected))
    assert machine.mistakes_ == mistakes
    assert moved
