"""The members that the hub wraps its records in."""

from peerline.client.records import Agent, Message, Note, Record


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
