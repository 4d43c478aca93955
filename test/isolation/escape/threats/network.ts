import type { Threat } from '../threat.ts';
import { THROUGH_PROXY } from './through-proxy.ts';

/** Places that must not be reached, whatever the policy: asked with the widest one. */
export const NETWORK: readonly Threat[] = [
  {
    id: 'loopback',
    threat: 'services of the host on its loopback and its own addresses',
    isControl: true,
    probe: `
for address in ['127.0.0.1', '0.0.0.0', *bait['addresses']]:
    attempt(address, lambda: connect(socket.AF_INET, (address, bait['port'])))
for address in ['::1', '::ffff:127.0.0.1']:
    attempt(address, lambda: connect(socket.AF_INET6, (address, bait['port'])))
`,
  },
  {
    id: 'near-addresses',
    threat: 'metadata services, private networks, the container engine’s bridge, directly and through the proxy',
    probe: `${THROUGH_PROXY}
hosts = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '10.0.0.1', '172.17.0.1', '192.168.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', 'metadata.google.internal']
for host in hosts:
    attempt(f'{host} directly', lambda: connect(socket.AF_INET, (host, 80)))
for host in [*hosts, '[fd00:ec2::254]', '[fe80::1]', '[64:ff9b::a9fe:a9fe]', '[::ffff:a9fe:a9fe]', '2852039166', '0xa9fea9fe']:
    for request in (f'CONNECT {host}:80 HTTP/1.1\\r\\nHost: {host}:80\\r\\n\\r\\n', f'GET http://{host}/latest/meta-data/ HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n'):
        attempt(request.split(' HTTP')[0], lambda: (answer := ask(request.encode()).split(b'\\r\\n')[0]) and b' 200' in answer and answer)
`,
  },
  {
    id: 'proxy-abuse',
    threat: 'the proxy as a way to the host: CONNECT to its ports in every spelling, Host headers, several requests in one connection',
    probe: `${THROUGH_PROXY}
port = bait['port']
get = lambda host: f'GET / HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n'.encode()
spellings = ['127.0.0.1', 'localhost', 'LOCALHOST.', 'x.localhost', '0.0.0.0', '127.1', '127.255.255.254', '2130706433', '0x7f000001', '0177.0.0.1', '[::1]', '[::]', '[::ffff:127.0.0.1]',
             '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', 'user@127.0.0.1', '127.0.0.1%00.example.com', bait['hostname'], *bait['addresses']]
for host in spellings:
    attempt(f'CONNECT {host}', lambda: reached(f'CONNECT {host}:{port} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n'.encode(), get(host)))
    attempt(f'GET {host}', lambda: reached(f'GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: {host}:{port}\\r\\nConnection: close\\r\\n\\r\\n'.encode()))
here = f'127.0.0.1:{port}'
for what, requests in {
    'origin form': [get(here)],
    'another Host': [f'GET http://git.tendon.internal/ HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode()],
    'Host twice': [f'GET / HTTP/1.1\\r\\nHost: git.tendon.internal\\r\\nHost: {here}\\r\\n\\r\\n'.encode()],
    'a second request': [f'GET http://169.254.169.254/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode(), f'GET http://{here}/ HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode()],
    'smuggled': [f'POST http://git.tendon.internal/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://{here}/ HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode()],
    'the broker': [f'GET http://git.tendon.internal/{here}/a/b/info/refs?service=git-upload-pack HTTP/1.1\\r\\nHost: git.tendon.internal\\r\\n\\r\\n'.encode()],
    'HTTP/0.9': [f'GET http://{here}/\\r\\n\\r\\n'.encode()],
    'file': [f'GET file://{bait["secret"]} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode()],
    'a socket': [f'CONNECT unix:{bait["socket"]} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode(), get('x')],
}.items():
    attempt(what, lambda: reached(*requests))
`,
  },
  {
    id: 'dns',
    threat: 'names and packets past the proxy: DNS servers of the host and of the world, UDP, other interfaces',
    probe: `
query = bytes.fromhex('123401000001000000000000076578616d706c6503636f6d0000010001')
def datagram(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(3)
        peer.connect((address, 53)) # so that a refusal is heard
        peer.send(query)
        return peer.recv(512)
for address in ['127.0.0.53', '127.0.0.11', '8.8.8.8', '1.1.1.1', *bait['resolvers']]:
    attempt(f'DNS of {address}', lambda: datagram(address))
os.environ['RES_OPTIONS'] = 'timeout:1 attempts:1'
attempt('a name', lambda: socket.getaddrinfo('example.com', 80))
attempt('the world', lambda: socket.create_connection(('1.1.1.1', 443), 3))
attempt('interfaces', lambda: [name for _, name in socket.if_nameindex() if name != 'lo'])
`,
  },
];
