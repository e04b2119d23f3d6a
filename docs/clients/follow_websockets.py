#!/usr/bin/env python3
"""Follows the endpoint of a service over a WebSocket and prints its addresses each time they change.

It needs the package websockets, which Debian has as python3-websockets. After a break it connects again and goes on after
the last revision that it has, so that no change is missed.

    XCE_TOKEN=$(cat .xce/admin-token) /usr/bin/python3 follow_websockets.py web
"""

import asyncio
import json
import os
import sys

import websockets

URL = os.environ.get("XCE_URL", "http://127.0.0.1:4000/graphql").replace("http", "ws", 1)
TOKEN = os.environ["XCE_TOKEN"]

DOCUMENT = """
subscription Follow($service: ServiceReference!, $after: Revision) {
  endpointChanged(service: $service, after: $after) { kind revision endpoint { addresses { hostPort } } }
}
"""


async def frames(service, after):
    """Yields the frames of one connection."""
    async with websockets.connect(URL, subprotocols=["graphql-transport-ws"]) as socket:
        await send(socket, type="connection_init", payload={"authorization": f"Bearer {TOKEN}"})
        variables = {"service": {"name": service}, "after": after}
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "connection_ack":
                await send(socket, id="1", type="subscribe", payload={"query": DOCUMENT, "variables": variables})
            elif message["type"] == "ping":
                await send(socket, type="pong")
            elif message["type"] == "next":
                yield message["payload"]["data"]["endpointChanged"]
            elif message["type"] == "error":
                raise SystemExit(message["payload"][0]["message"])
            elif message["type"] == "complete":
                return


async def send(socket, **message):
    await socket.send(json.dumps(message))


async def main(service):
    after = None
    while True:
        try:
            async for frame in frames(service, after):
                after = frame["revision"]
                addresses = [address["hostPort"] for address in frame["endpoint"]["addresses"]]
                print(f"{frame['kind']}: {' '.join(addresses) or 'none'}", flush=True)
                if frame["kind"] == "GONE":
                    return
        except websockets.ConnectionClosed as closed:
            # 44xx tells of a mistake, such as a wrong token (4403): trying again would not help. 4413 is a slow reader.
            if closed.code is not None and 4400 <= closed.code < 4500 and closed.code != 4413:
                raise SystemExit(closed.reason)
        except OSError:
            pass
        await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
