"""A fault of ours is logged by its kind and its place; what it was handling stays out."""

import logging

from peerline.cli.faults import Faults, where

SECRET = "kxm_project_of_somebody"


def failing() -> None:
    raise ValueError(f"cannot handle {SECRET}")


def test_the_place_is_told_and_the_text_is_not() -> None:
    try:
        failing()
    except ValueError as error:
        told = where(error)
    assert "failing" in told
    assert "test_faults.py" in told
    assert SECRET not in told


def test_what_a_module_logs_arrives_without_its_arguments() -> None:
    told: list[tuple[BaseException | None, str]] = []
    logger = logging.getLogger("peerline.server.protocol")
    with Faults(lambda error, text: told.append((error, text))):
        try:
            failing()
        except ValueError:
            logger.exception("%s could not be answered", SECRET)
        logger.info("nothing to see")
    ((error, text),) = told
    assert isinstance(error, ValueError)
    assert text == "%s could not be answered"
