# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Who the caller is, by HTTP Basic or access key, and who is refused (docs/dev/contract.md, "Authentication")."""

import base64
import hmac
from collections.abc import Iterable
from dataclasses import dataclass

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import SignedQuery
from ocp_emulator.fleet.entities import AccessKey, User
from ocp_emulator.security.signing import SignedRequest, is_timely, sign, strings_to_sign

ACCESS_KEY_SCHEME = "OCP-ACCESS-KEY-HMACSHA1"


@dataclass(frozen=True)
class Caller:
    """An authenticated user. `by_password` is false for an access key."""

    user: User
    by_password: bool


class WrongPassword(errors.ApiError):
    """401 for a wrong user name or password; `exists` says whether the user exists."""

    def __init__(self, name: str, exists: bool) -> None:
        """`name` is the user name of the request."""
        error = errors.bad_credentials("The user name or the password is wrong.")
        super().__init__(error.status, error.code, error.message)
        self.name = name
        self.exists = exists


class Authenticator:
    """Knows all users and access keys."""

    def __init__(self, users: Iterable[User], access_keys: Iterable[AccessKey], signed_query: SignedQuery) -> None:
        """Users and keys do not change later; `signed_query` says how a query is encoded in a signature."""
        self._signed_query = signed_query
        self._users = {user.name: user for user in users}
        by_id = {user.id: user for user in self._users.values()}
        self._keys = {key.id: (key.secret, by_id[key.user_id]) for key in access_keys}

    def authenticate(self, request: SignedRequest, now: int) -> Caller:
        """The caller. Raises ApiError 401, which says what is wrong but not what would be right."""
        authorization = request.header("authorization")
        if not authorization:
            raise errors.missing_credentials()
        scheme, _blank, credentials = authorization.partition(" ")
        if scheme.lower() == "basic":
            return Caller(self._basic(credentials.strip()), by_password=True)
        if scheme == ACCESS_KEY_SCHEME:
            return Caller(self._access_key(credentials.strip(), request, now), by_password=False)
        raise errors.bad_credentials(
            f"The scheme of the Authorization header is neither Basic nor {ACCESS_KEY_SCHEME}."
        )

    def _basic(self, credentials: str) -> User:
        try:
            name, colon, password = base64.b64decode(credentials, validate=True).decode().partition(":")
        except ValueError:
            colon = ""
        if not colon:
            raise errors.bad_credentials("The credentials of HTTP Basic are not the base64 of user:password.")
        user = self._users.get(name)
        if not _same(password, user.password if user else "") or user is None:
            raise WrongPassword(name, exists=user is not None)
        return user

    def _access_key(self, credentials: str, request: SignedRequest, now: int) -> User:
        key_id, colon, signature = credentials.partition(":")
        if not colon:
            raise errors.bad_credentials(f"The credentials of {ACCESS_KEY_SCHEME} are not accessKey:signature.")
        dates = [date for date in (request.header("date"), request.header("x-ocp-date")) if date is not None]
        if not dates:
            raise errors.bad_credentials("A signed call needs the header Date or x-ocp-date.")
        # Which of the two is signed when both are there is not documented.
        timely = [date for date in dates if is_timely(date, now)]
        if not timely:
            raise errors.bad_credentials(
                "The Date is no RFC 1123 date, or it is more than 15 minutes off the clock here."
            )
        secret, user = self._keys.get(key_id, ("", None))
        texts = (text for date in timely for text in strings_to_sign(request, date, self._signed_query))
        if not any(_same(signature, sign(secret, text)) for text in texts) or user is None:
            raise errors.bad_credentials("The access key is unknown or the signature is wrong.")
        return user


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(), right.encode())
