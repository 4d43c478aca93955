/**
 * Run by root, in a mount namespace of its own, before bubblewrap: puts what the sandbox may see where the sandbox's uid can
 * reach it (root's folders are closed to others), id-maps the workspace, gives up root for good and becomes the command.
 * The mounts live and die with the namespace: nothing of them is visible on the host.
 *
 * Perl, because three system calls are needed that neither Node nor util-linux < 2.39 has, and every Debian and Ubuntu has perl.
 * The three numbers are the same on all architectures; that of unshare is not, so `unshare(1)` does that part.
 *
 * Arguments: uid gid (source target idmap)… -- command…
 */
export const STAGED_ENTRY = String.raw`
use strict;
my ($uid, $gid) = splice @ARGV, 0, 2;
my ($OPEN_TREE, $MOVE_MOUNT, $MOUNT_SETATTR) = (428, 429, 442);
my ($CLONE, $CLOEXEC, $RECURSIVE, $EMPTY_PATH) = (1, 0x80000, 0x8000, 0x1000);
sub fail { print STDERR "tendon: $_[0]: $!\n"; exit 125 }

sub user_namespace {
  my $pid = open(my $ready, '-|', 'unshare', '--user', 'sh', '-c', 'echo; exec sleep 60') or fail('unshare');
  defined readline($ready) or fail('user namespace');
  for (["uid_map", $uid], ["gid_map", $gid]) {
    open(my $map, '>', "/proc/$pid/$_->[0]") or fail($_->[0]);
    defined syswrite($map, "0 $_->[1] 1\n") or fail($_->[0]);
  }
  open(my $namespace, '<', "/proc/$pid/ns/user") or fail('user namespace');
  kill 'KILL', $pid;
  return $namespace;
}

while (@ARGV && $ARGV[0] ne '--') {
  my ($source, $target, $idmap) = splice @ARGV, 0, 3;
  my $tree = syscall($OPEN_TREE, -100, $source, $CLONE | $CLOEXEC | ($idmap ? 0 : $RECURSIVE));
  $tree >= 0 or fail("cannot open $source");
  my $empty = "";
  if ($idmap) {
    my $namespace = user_namespace();
    my $attributes = pack('QQQQ', 0x00100000, 0, 0, fileno($namespace));
    syscall($MOUNT_SETATTR, $tree, $empty, $EMPTY_PATH, $attributes, 32) == 0
      or fail("the filesystem of $source cannot be id-mapped; give the folder to an ordinary user or run the server as one");
  }
  syscall($MOVE_MOUNT, $tree, $empty, -100, $target, 4) == 0 or fail("cannot mount $source");
}
shift @ARGV;
exec('setpriv', '--reuid', $uid, '--regid', $gid, '--clear-groups', '--inh-caps=-all', '--', @ARGV) or fail('cannot run setpriv');
`;
