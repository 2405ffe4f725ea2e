"""The judge must be able to say no: each thing that may be wrong with the rows is, once."""
import copy

import pytest

import judge
import rule

GOOD = [{"table": rule.TABLE, "row": k, "connection": 1, "wireSeq": k // rule.ROWS_A_FLUSH, "values": rule.row(k)}
        for k in range(rule.ROWS)]


def test_good_rows_pass():
    judge.many_rows(GOOD, doubles_allowed=False)


def test_a_replayed_stretch_passes_only_after_a_lost_connection():
    rows = GOOD[:500] + GOOD[200:]
    judge.many_rows(rows, doubles_allowed=True)
    with pytest.raises(judge.Wrong, match="row 200 came twice"):
        judge.many_rows(rows, doubles_allowed=False)


@pytest.mark.parametrize("gone", [0, 4711, rule.ROWS - 1])
def test_a_missing_row(gone):
    with pytest.raises(judge.Wrong, match=f"1 rows are missing, the first is {gone}"):
        judge.many_rows(GOOD[:gone] + GOOD[gone + 1:], doubles_allowed=True)


@pytest.mark.parametrize("column", ["sym", "px", "us", "timestamp"])
def test_a_wrong_value(column):
    rows = copy.deepcopy(GOOD)
    rows[77]["values"][column] = rows[78]["values"][column]
    with pytest.raises(judge.Wrong, match="row 77: expected"):
        judge.many_rows(rows, doubles_allowed=True)


def test_a_null_and_a_column_too_many():
    for change in ({"px": None}, {"more": 1}):
        rows = copy.deepcopy(GOOD)
        rows[9]["values"].update(change)
        with pytest.raises(judge.Wrong, match="row 9: expected"):
            judge.many_rows(rows, doubles_allowed=True)


def test_first_arrivals_out_of_order():
    rows = GOOD[:100] + GOOD[200:300] + GOOD[100:200] + GOOD[300:]
    with pytest.raises(judge.Wrong, match="row 100 came first after row 299"):
        judge.many_rows(rows, doubles_allowed=True)


def test_rows_that_nobody_sent():
    for change in ({"table": "other"}, {"values": rule.row(rule.ROWS)}, {"values": {}}):
        with pytest.raises(judge.Wrong):
            judge.many_rows(GOOD + [{**GOOD[0], **change}], doubles_allowed=True)


PAGE = {"table": "trades", "values": {"symbol": "ETH-USD", "side": "sell", "price": 2615.54, "amount": 0.00044,
                                      "ord_book_bids": [2615.54, 2618.63], "timestamp": 50}}


def test_first_page():
    judge.first_page([PAGE], 40, 60)
    for rows in ([], [PAGE, PAGE], [{**PAGE, "table": "trade"}],
                 [{**PAGE, "values": {**PAGE["values"], "ord_book_bids": [2615.54]}}],
                 [{**PAGE, "values": {**PAGE["values"], "timestamp": 61}}]):
        with pytest.raises(judge.Wrong):
            judge.first_page(rows, 40, 60)
