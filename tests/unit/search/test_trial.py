"""The rows that tell of trials and trainings."""

from dataclasses import replace

from support.simulation import Memory, next_job, plan_from, scheduler_for, trained

from clar_tune.records import TermRecord
from clar_tune.search.trial import training_row


def test_the_activity_of_each_term_stands_in_its_own_column() -> None:
    plan = plan_from()
    job = next_job(scheduler_for(plan, Memory()), "a")
    assert job is not None
    done = trained(job, job.first, 0.5)
    terms = {"com": TermRecord(1.0, active=0.25), "ori": TermRecord(2.0, active=0.75)}
    record = replace(done.record, terms=terms, penalty_active=0.75)
    row = training_row(plan.studies[job.study].columns, job.trial, replace(done, record=record))
    assert (row.penalty_active_com, row.penalty_active_ori) == (0.25, 0.75)
    assert row.penalty_active == 0.75
