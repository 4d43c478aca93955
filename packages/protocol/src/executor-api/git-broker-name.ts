/** The name that the git inside asks the proxy for, in place of a host whose token the server keeps. */
export const GIT_BROKER_NAME = 'git.tendon.internal';
