/**
 * Run by root before bubblewrap: puts what the sandbox may see where the sandbox's uid can reach it (root's folders are closed to
 * others), id-maps the workspace, gives up root for good and becomes the command. With the numbers of unshare and mount it does so in
 * a mount namespace of its own: the mounts live and die with that, and nothing of them is visible on the host.
 *
 * A source may be a descriptor that this process was given: what is mounted is then that folder, whatever its path leads to by now.
 * A descriptor belongs to the namespace in which it was opened, so all sources are taken before a new one is made. A process that
 * holds one can walk out of the sandbox by it, so it is closed at once.
 *
 * Perl, because three system calls are needed that neither Node nor util-linux < 2.39 has, and every Debian and Ubuntu has perl.
 * The three numbers are the same on all architectures; those of unshare and mount are not.
 *
 * What is protected in a source is mounted onto itself there, found without following any link: what is exchanged meanwhile ends the
 * start. Before that the source's mount is cut off from the host's, where the same would come to lie otherwise.
 *
 * Where memory runs out on the machine, a sandbox is to end before the server. What is set with CAP_SYS_RESOURCE cannot be lowered inside.
 *
 * Arguments: unshare mount uid gid (source target idmap count (ro|rw path){count})… -- command…
 * A source is a path, or `fd:<number>`; for unshare and mount a 0 each where the namespace stays.
 */
const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, readonly [unshare: number, mount: number]>>> = {
  arm: [337, 21],
  arm64: [97, 40],
  ia32: [310, 21],
  loong64: [97, 40],
  ppc64: [282, 21],
  riscv64: [97, 40],
  s390x: [303, 21],
  x64: [272, 165],
};

/** One thing to be mounted. */
export interface StagedMount {
  /** A path, or the number that a descriptor has in the process. */
  readonly source: string | number;
  readonly target: string;
  readonly idMapped: boolean;
  /** Paths below it, the outer ones first. */
  readonly protects?: readonly { readonly path: string; readonly isReadOnly: boolean }[];
}

/** The command that stages, gives up root and becomes what follows it. */
export function stagedEntry(
  mounts: readonly StagedMount[],
  { uid, gid, inNewNamespace }: { readonly uid: number; readonly gid: number; readonly inNewNamespace: boolean },
): readonly string[] {
  const numbers = inNewNamespace ? NUMBERS[process.arch] : [0, 0];
  if (numbers === undefined) throw new Error(`on a processor of the kind ${process.arch} sandboxes cannot be started as root`);
  const list = mounts.flatMap(({ source, target, idMapped, protects = [] }) => [
    typeof source === 'number' ? `fd:${source}` : source,
    target,
    idMapped ? '1' : '',
    String(protects.length),
    ...protects.flatMap(({ path, isReadOnly }) => [isReadOnly ? 'ro' : 'rw', path]),
  ]);
  return ['perl', '-e', STAGED_ENTRY, '--', ...[...numbers, uid, gid].map(String), ...list, '--'];
}

const STAGED_ENTRY = String.raw`
use strict;
my ($UNSHARE, $MOUNT, $uid, $gid) = splice @ARGV, 0, 4;
my ($OPEN_TREE, $MOVE_MOUNT, $OPENAT2, $MOUNT_SETATTR) = (428, 429, 437, 442);
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

sub alone {
  my ($none, $root) = ("none", "/");
  syscall($MOUNT, $none, $root, 0, 0x44000, 0) == 0 or fail('cannot make the mounts private');
}

my $empty = "";

sub set_attributes {
  my ($tree, $set, $propagation) = @_;
  my $attributes = pack('QQQQ', $set, 0, $propagation, 0);
  return syscall($MOUNT_SETATTR, $tree, $empty, $EMPTY_PATH | $RECURSIVE, $attributes, 32) == 0;
}

sub protect {
  my ($target, $flag, $path) = @_;
  my $top = syscall($OPEN_TREE, -100, $target, $CLOEXEC);
  $top >= 0 or fail("cannot open $target");
  # As a place only (O_PATH), below the top and through no link.
  my $how = pack('QQQ', 0x200000 | $CLOEXEC, 0, 0x02 | 0x04 | 0x08);
  my $at = syscall($OPENAT2, $top, $path, $how, length($how));
  $at >= 0 or fail("$path was exchanged while it was protected (SANDBOX_PROTECTED_PATHS)");
  my $tree = syscall($OPEN_TREE, $at, $empty, $CLONE | $CLOEXEC | $EMPTY_PATH);
  $tree >= 0 or fail("cannot protect $path");
  $flag ne 'ro' or set_attributes($tree, 1, 0) or fail("cannot make $path read-only");
  syscall($MOVE_MOUNT, $tree, $empty, $at, $empty, 0x44) == 0 or fail("cannot mount $path onto itself");
  # Closed with this sub: there may be more of them than a process may have open.
  for ($top, $at, $tree) { open(my $file, '<&=', $_) or fail("cannot close what protects $path") }
}

sub above_server {
  my $score = '/proc/self/oom_score_adj';
  open(my $own, '<', $score) or return;
  my $wanted = readline($own) + 100;
  $wanted = $wanted < 100 ? 100 : $wanted > 1000 ? 1000 : $wanted;
  open(my $file, '>', $score) or return;
  syswrite($file, $wanted);
}
above_server();

my @trees;
while (@ARGV && $ARGV[0] ne '--') {
  my ($source, $target, $idmap, $count) = splice @ARGV, 0, 4;
  my @protected = splice @ARGV, 0, 2 * $count;
  my $path = $source;
  my $held;
  if ($source =~ /^fd:(\d+)$/) {
    open($held, '<&=', $1 + 0) or fail("cannot take $source");
    $path = "/proc/self/fd/$1";
  }
  my $tree = syscall($OPEN_TREE, -100, $path, $CLONE | $CLOEXEC | ($idmap ? 0 : $RECURSIVE));
  $tree >= 0 or fail("cannot open $source");
  close($held) or fail("cannot close $source") if $held;
  if ($idmap) {
    my $namespace = user_namespace();
    my $attributes = pack('QQQQ', 0x00100000, 0, 0, fileno($namespace));
    syscall($MOUNT_SETATTR, $tree, $empty, $EMPTY_PATH, $attributes, 32) == 0
      or fail("the filesystem of the workspace cannot be id-mapped; give the folder to an ordinary user or run the server as one");
  }
  !$count or set_attributes($tree, 0, 0x40000) or fail('cannot cut the workspace off from the host');
  push @trees, [$tree, $target, @protected];
}
shift @ARGV;
if ($UNSHARE) {
  syscall($UNSHARE, 0x20000) == 0 or fail('cannot make a mount namespace');
  alone();
}
for (@trees) {
  my ($tree, $target) = @$_;
  syscall($MOVE_MOUNT, $tree, $empty, -100, $target, 4) == 0 or fail("cannot mount at $target");
}
# What was taken from the host's namespace is still tied to it.
alone() if $UNSHARE;
for (@trees) {
  my ($tree, $target, @protected) = @$_;
  protect($target, splice @protected, 0, 2) while @protected;
}
exec('setpriv', '--reuid', $uid, '--regid', $gid, '--clear-groups', '--inh-caps=-all', '--', @ARGV) or fail('cannot run setpriv');
`;
