"""Why an arrival may reach no model by itself: what a sender is told in the trail instead of nothing."""


def silence(client: str, *, headless: bool, watched: bool) -> str | None:
    """The reason, or None: a monitor of this session, or `codex_queue`, reports by itself what it told.

    A push into a channel is no announcement: a client drops it without a word.
    """
    if watched or client == "codex":
        return None
    if client == "opencode":
        return "no conversation has begun in it since it started, or its plugin is missing: peerline setup opencode"
    if client != "claude-code":
        return f"{client} takes no push from its MCP server"
    if headless:
        return "the session is headless, so nothing wakes it"
    return "no monitor runs in its session, and whether a channel push is taken is not known"
