import type { Threat } from '../threat.ts';
import { THROUGH_PROXY } from './through-proxy.ts';

/** Ways around what the proxy reads, and networks that it is not asked for. */
export const PAST_THE_PROXY: readonly Threat[] = [
  {
    id: 'strange-spellings',
    threat:
      'the host’s addresses in letters and figures that only another reader takes for them: full width, circled, mixed bases, zones, escapes, bytes of nothing',
    probe: `${THROUGH_PROXY}
port = bait['port']
hosts = ['１２７．０．０．１', '①②⑦.⓪.⓪.①', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ｌｏｃａｌｈｏｓｔ', '127。0。0。1', '0x7f.1', '0x7f.0.0.0x1', '00000177.0.0.1', '127.0.0.1.', '127.000.000.001', '0', '00', '127.1.', '%31%32%37.0.0.1',
         'localhost%00.example.com', 'localhost\\0', '[::ffff:127.0.0.1%lo]', '[0:0:0:0:0:ffff:7f00:0001]', '[::1%251]', '[::127.0.0.1]', '[ff02::1]', 'ip6-localhost', '127.0.0.1 ', '\\t127.0.0.1', '127.0.0.1#@example.com',
         'example.com@127.0.0.1', '127.0.0.1\\\\@example.com', '4294967297', '127.0.0.256', '-1', 'xn--localhost']
for host in hosts:
    attempt(f'CONNECT {host!r}', lambda: reached(f'CONNECT {host}:{port} HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n'.encode(), b'GET / HTTP/1.0\\r\\n\\r\\n'))
    attempt(f'GET {host!r}', lambda: reached(f'GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'.encode()))
for number in (f'0{port}', f'+{port}', f'{port}.0', f' {port}', f'{port + 65536}', f'{port}x', f'0x{port:x}'):
    attempt(f'port {number!r}', lambda: reached(f'CONNECT 127.0.0.1:{number} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode(), b'GET / HTTP/1.0\\r\\n\\r\\n'))
`,
  },
  {
    id: 'proxy-protocols',
    threat: 'other protocols at the proxy: SOCKS, HTTP/2, upgrades, methods and headers that make proxies look at another place',
    probe: `${THROUGH_PROXY}
import struct
port = bait['port']
here = f'127.0.0.1:{port}'
address = socket.inet_aton('127.0.0.1') + struct.pack('>H', port)
get = f'GET / HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode()
for what, requests in {
    'SOCKS 4': [b'\\x04\\x01' + address[4:] + address[:4] + b'\\0', get],
    'SOCKS 5': [b'\\x05\\x01\\0', b'\\x05\\x01\\0\\x01' + address, get],
    'the PROXY protocol': [f'PROXY TCP4 127.0.0.1 127.0.0.1 1 {port}\\r\\n'.encode() + get],
    'HTTP/2': [b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n' + bytes(9), get],
    'an upgrade': [f'GET http://{here}/ HTTP/1.1\\r\\nHost: {here}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n'.encode()],
    'headers': [f'GET http://example.invalid/ HTTP/1.1\\r\\nHost: {here}\\r\\nX-Forwarded-Host: {here}\\r\\nX-Original-URL: http://{here}/\\r\\nForwarded: host="{here}"\\r\\n\\r\\n'.encode()],
    'TRACE': [f'TRACE http://{here}/ HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode()],
    'OPTIONS *': [f'OPTIONS * HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode(), get],
    'another scheme': [f'GET {scheme}://{here}/ HTTP/1.1\\r\\nHost: {here}\\r\\n\\r\\n'.encode() for scheme in ('https', 'ftp', 'gopher', 'ws', 'unix')],
    'a folded header': [f'GET http://example.invalid/ HTTP/1.1\\r\\nHost: example.invalid\\r\\n {here}\\r\\n\\r\\n'.encode()],
    'two lengths': [f'POST http://example.invalid/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\nContent-Length: {len(get)}\\r\\n\\r\\n'.encode() + get],
}.items():
    attempt(what, lambda: reached(*requests))
`,
  },
  {
    id: 'other-transports',
    threat: 'transports that no proxy carries: ICMP, UDP, SCTP, DCCP, multipath TCP, broadcast and multicast, to the host and its network',
    probe: `
addresses = ['127.0.0.1', *bait['addresses'], '255.255.255.255', '224.0.0.251']
def datagram(kind, protocol, address):
    with socket.socket(socket.AF_INET, kind, protocol) as peer:
        peer.settimeout(0.2)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        peer.sendto(b'\\x08\\0\\xf7\\xff' + bytes(4), (address, bait['port']))
        return peer.recv(512)
for address in addresses:
    for kind, protocol, what in [(2, 1, 'ICMP'), (2, 17, 'UDP'), (2, 136, 'UDP-Lite')]:
        attempt(f'{what} to {address}', lambda: address != '127.0.0.1' and datagram(kind, protocol, address))
def stream(kind, protocol, address):
    with socket.socket(socket.AF_INET, kind, protocol) as peer:
        peer.settimeout(1)
        peer.connect((address, bait['port']))
        return 'connected'
for address in addresses[:-2]:
    for kind, protocol, what in [(1, 132, 'SCTP'), (5, 132, 'SCTP with messages'), (6, 33, 'DCCP'), (1, 262, 'multipath TCP')]:
        attempt(f'{what} to {address}', lambda: stream(kind, protocol, address))
`,
  },
  {
    id: 'other-services',
    threat: 'what another conversation’s programs serve on their loopback, on all their addresses and as abstract sockets',
    probe: `${THROUGH_PROXY}
port = bait['otherPort']
for address in ['127.0.0.1', '0.0.0.0', '127.0.0.2', *bait['addresses']]:
    attempt(address, lambda: connect(socket.AF_INET, (address, port)))
    attempt(f'{address} through the proxy', lambda: b' 200 ' in ask(f'GET http://{address}:{port}/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'.encode())[:20])
attempt('abstract', lambda: connect(socket.AF_UNIX, '\\0' + bait['mark'] + '-other'))
`,
  },
  {
    id: 'git-broker',
    threat: 'the broker of git’s tokens: asking it for other hosts, other paths and what it adds',
    probe: `${THROUGH_PROXY}
for path in ['/', '/github.com', '/github.com/a/b/info/refs?service=git-upload-pack', f"/127.0.0.1:{bait['port']}/a/b/info/refs?service=git-upload-pack", '/localhost/a/b/info/refs?service=git-receive-pack',
             '/../../etc/passwd', '/github.com/../../user', '/github.com/a/b/../../../user', '/github.com/%2e%2e/user', '/api.github.com/user', '//github.com/user', '/github.com/a/b/info/refs?service=../../user',
             '/github.com/login/oauth/access_token', '/169.254.169.254/latest/meta-data']:
    request = f'GET http://git.tendon.internal{path} HTTP/1.1\\r\\nHost: git.tendon.internal\\r\\nConnection: close\\r\\n\\r\\n'
    attempt(path, lambda: (answer := ask(request.encode())) and (b' 200 ' in answer[:20] or b'oken ' in answer or b'Basic' in answer) and answer)
attempt('a tunnel to it', lambda: b' 200 ' in ask(b'CONNECT git.tendon.internal:443 HTTP/1.1\\r\\nHost: git.tendon.internal\\r\\n\\r\\n')[:20])
`,
  },
];
