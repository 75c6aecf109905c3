"""One loopback address in front of several servers, as a load balancer is: bytes in, bytes out."""

import itertools
import socket
import threading


class Proxy:
    """Forwards each connection to the first backend that takes it, in turn."""

    def __init__(self, *ports):
        self.ports, self.turn = list(ports), itertools.count()
        self.lock, self.open = threading.Lock(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        first = next(self.turn)
        for offset in range(len(self.ports)):
            port = self.ports[(first + offset) % len(self.ports)]
            try:
                server = socket.create_connection(("127.0.0.1", port), timeout=5)
                break
            except OSError:
                continue
        else:
            client.close()
            return
        server.settimeout(None)
        with self.lock:
            self.open |= {client, server}
        threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
        self.pump(server, client)

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            close(end)
        with self.lock:
            self.open -= {source, sink}

    def drop(self):
        """Cut every connection; new ones are taken."""
        with self.lock:
            cut, self.open = self.open, set()
        for end in cut:
            close(end)

    def close(self):
        close(self.listener)
        self.drop()


def close(end):
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()
