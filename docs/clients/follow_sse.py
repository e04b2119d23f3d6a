#!/usr/bin/env python3
"""Follows the endpoint of a service and prints its addresses each time they change.

It needs only Python's standard library: the subscription comes as server-sent events. After a break it connects again and
goes on after the last revision that it has, so that no change is missed.

    XCE_TOKEN=$(cat .xce/admin-token) python3 follow_sse.py web
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("XCE_URL", "http://127.0.0.1:4000/graphql")
TOKEN = os.environ["XCE_TOKEN"]

DOCUMENT = """
subscription Follow($service: ServiceReference!, $after: Revision) {
  endpointChanged(service: $service, after: $after) { kind revision endpoint { addresses { hostPort } } }
}
"""


def frames(service, after):
    """Yields the frames of one connection."""
    body = {"query": DOCUMENT, "variables": {"service": {"name": service}, "after": after}}
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
    }
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    # The server sends something at least every 15 s, so a minute of silence is a broken connection.
    with urllib.request.urlopen(request, timeout=60) as response:
        event = None
        for raw in response:
            line = raw.decode().rstrip("\n")
            if line.startswith("event:"):
                event = line[6:].strip()
            elif line.startswith("data:") and event == "next":
                result = json.loads(line[5:])
                if "errors" in result:
                    raise SystemExit(result["errors"][0]["message"])
                yield result["data"]["endpointChanged"]


def main(service):
    after = None
    while True:
        try:
            for frame in frames(service, after):
                after = frame["revision"]
                addresses = [address["hostPort"] for address in frame["endpoint"]["addresses"]]
                print(f"{frame['kind']}: {' '.join(addresses) or 'none'}", flush=True)
                if frame["kind"] == "GONE":
                    return
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise SystemExit(json.load(error)["errors"][0]["message"])
        except OSError:
            pass
        time.sleep(1)


if __name__ == "__main__":
    main(sys.argv[1])
