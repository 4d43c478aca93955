export const ERRNO = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 } as const;

export const FAMILY = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
export const SOCK_TYPE_MASK = 0xf;
/** Of the internet streams and datagrams: no raw ones, and no SOCK_PACKET, by which an internet socket is one for packets. */
export const INTERNET_TYPES = [1, 2];
/** The usual one, TCP and UDP. Others (SCTP, DCCP, L2TP, MPTCP, SMC) would load whole modules of the kernel. */
export const INTERNET_PROTOCOLS = [0, 6, 17];
/** Routes and device events; not netfilter and the rest, which a nested namespace would have privileges for. */
export const NETLINK_PROTOCOLS = [0, 15];
/** Put characters into a terminal as if typed. */
export const TERMINAL_INJECTIONS = [0x5412, 0x541c];
/** Linux as it is, the two old ways to name it, addresses that are not random (sanitizers), and the question which it is. */
export const PERSONALITIES = [0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff];
