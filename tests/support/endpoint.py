"""An S3 address on loopback, and the ways to tell a client about it."""

import urllib.request
import uuid
from datetime import timedelta
from typing import Any

import obstore
from obstore.store import S3Store

ACCESS_KEY = "test"
SECRET_KEY = "test"  # ministack accepts presigned requests with this one only
REGION = "us-east-1"


class S3Endpoint:
    """Where an S3 server (or a proxy before it) listens; every one of ours takes the same key."""

    endpoint: str

    @property
    def env(self) -> dict[str, str]:
        """Environment variables for a client in another process."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": REGION,
            "AWS_S3_FORCE_PATH_STYLE": "true",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @property
    def storage_options(self) -> dict[str, str]:
        """Options that `lance` takes as `storage_options` and `S3Store` as `config`."""
        return {
            "aws_access_key_id": ACCESS_KEY,
            "aws_secret_access_key": SECRET_KEY,
            "aws_endpoint": self.endpoint,
            "aws_region": REGION,
            "aws_virtual_hosted_style_request": "false",
            "allow_http": "true",
        }

    def store(self, bucket: str, **options: Any) -> S3Store:
        """A store on a bucket; `options` are S3Store's own (`prefix`, `client_options`, `retry_config`)."""
        return S3Store(bucket, config=self.storage_options, **options)  # pyright: ignore[reportArgumentType]

    def bucket(self, name: str | None = None) -> str:
        """Create a bucket, with a fresh name unless one is given, and return its name."""
        name = name or f"b-{uuid.uuid4().hex[:12]}"
        url = obstore.sign(self.store(name), "PUT", "", timedelta(minutes=1))
        with urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=300):
            return name
