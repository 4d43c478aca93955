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

/** Set-user-id and set-group-id: a file with them would run as whom the host takes its owner for, root perhaps. */
export const SET_ID_BITS = 0o6000;
/** `O_CREAT` and `O_TMPFILE`: without them an opening takes no mode, and there is anything in its place. */
export const CREATING_FLAGS = 0o20000100;
/** Which argument is the mode of a new file or the new one of an old file, and which the flags that say whether there is one. */
export const MODES: ReadonlyMap<string, { readonly mode: number; readonly flags?: number }> = new Map([
  ['open', { flags: 1, mode: 2 }],
  ['openat', { flags: 2, mode: 3 }],
  ['creat', { mode: 1 }],
  ['mknod', { mode: 1 }],
  ['mknodat', { mode: 2 }],
  ['chmod', { mode: 1 }],
  ['fchmod', { mode: 1 }],
  ['fchmodat', { mode: 2 }],
  ['fchmodat2', { mode: 2 }],
]);
