"""Names that others may import from here; each is loaded when it is first used."""

from .examination import (
    FULL as FULL,
    QUICK as QUICK,
    Effort as Effort,
    examine_device as examine_device,
    examine_methods as examine_methods,
)
from .facts import DeviceFacts as DeviceFacts, device_facts as device_facts
from .faults import FAULTY as FAULTY, breaking as breaking, judge_fault as judge_fault
from .findings import Finding as Finding, Report as Report, reported as reported, save as save
from .tenant import Tenancy as Tenancy, Tenant as Tenant, judge_shares as judge_shares
