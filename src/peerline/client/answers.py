"""The members that the hub wraps its records in."""

from peerline.client.records import Agent, Fact, HeldPair, Lease, Message, Note, Record, RefusedSend


class AgentList(Record, frozen=True, kw_only=True):
    agents: tuple[Agent, ...]


class MessageList(Record, frozen=True, kw_only=True):
    messages: tuple[Message, ...]


class OneMessage(Record, frozen=True, kw_only=True):
    message: Message


class NoteList(Record, frozen=True, kw_only=True):
    notes: tuple[Note, ...]


class OneNote(Record, frozen=True, kw_only=True):
    note: Note


class OneFact(Record, frozen=True, kw_only=True):
    fact: Fact


class RefusedList(Record, frozen=True, kw_only=True):
    refused: tuple[RefusedSend, ...]


class LeaseList(Record, frozen=True, kw_only=True):
    leases: tuple[Lease, ...]


class OneLease(Record, frozen=True, kw_only=True):
    lease: Lease


class PairList(Record, frozen=True, kw_only=True):
    pairs: tuple[HeldPair, ...]
