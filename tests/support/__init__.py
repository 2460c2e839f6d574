"""What tests need around the code: real S3 servers, a careless one, a proxy that counts and breaks."""

from tests.support.careless import CarelessServer
from tests.support.endpoint import S3Endpoint
from tests.support.proxy import CountingProxy, Counts, Exchange, Fault
from tests.support.servers import MinistackServer, SeaweedServer

__all__ = [
    "CarelessServer",
    "CountingProxy",
    "Counts",
    "Exchange",
    "Fault",
    "MinistackServer",
    "S3Endpoint",
    "SeaweedServer",
]
