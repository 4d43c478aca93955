/** Python of probes that speak to the proxy by hand. */
export const THROUGH_PROXY = `
from urllib.parse import urlsplit
proxy = urlsplit(os.environ['http_proxy'])
def ask(*requests):
    with socket.create_connection((proxy.hostname, proxy.port), 5) as peer:
        peer.settimeout(5)
        answer = b''
        for request in requests:
            peer.sendall(request)
            try: answer += peer.recv(65536)
            except TimeoutError: pass
        return answer
def reached(*requests):
    answer = ask(*requests)
    return bait['answer'].encode() in answer and answer
`;
