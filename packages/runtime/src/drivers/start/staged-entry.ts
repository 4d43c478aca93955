import { findProgram } from '../../processes/launch.ts';

/**
 * Run before bubblewrap, in a mount namespace of its own: the mounts live and die with that, and nothing of them is visible on the host.
 * Run by root it puts what the sandbox may see where the sandbox's uid can reach it (root's folders are closed to others), id-maps the
 * workspace, gives up root for good and becomes the command. Run by an ordinary user it does so in a user namespace in which that user
 * is the same one, and becoming the command takes away all rights over it.
 *
 * A source may be a descriptor that this process was given: what is mounted is then that folder, whatever its path leads to by now.
 * A descriptor belongs to the namespace in which it was opened, so root takes all sources before it makes a new one. An ordinary user
 * has no right to mount before: the folder is opened again by its path, through no link, and is the one that is held or none.
 * A process that holds a descriptor can walk out of the sandbox by it, so it is closed at once.
 *
 * Perl, because system calls are needed that neither Node nor util-linux < 2.39 has, and every Debian and Ubuntu has perl.
 * The numbers of the newer ones are the same on all architectures; those of unshare and mount are not.
 *
 * What is protected in a source is mounted onto itself there, found without following any link: what is exchanged meanwhile ends the
 * start. Before that the source's mount is cut off from the host's, where the same would come to lie otherwise.
 *
 * Where memory runs out on the machine, a sandbox is to end before the server. What is set with CAP_SYS_RESOURCE cannot be lowered inside.
 *
 * Arguments: namespace unshare mount uid gid (source target idmap count (ro|rw path){count})… -- command…
 * The namespace is `same` (unshare and mount are then 0), `mounts` or `user`; a source is a path, or `fd:<number>:<path>`.
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
  readonly source: string;
  /** The number that a descriptor of the source has in the process. */
  readonly descriptor?: number;
  readonly target: string;
  readonly idMapped: boolean;
  /** Paths below it, the outer ones first. */
  readonly protects?: readonly { readonly path: string; readonly isReadOnly: boolean }[];
}

/** Where the mounts are made: in the current namespace, a mount namespace of root's, or one in an ordinary user's own user namespace. */
export type StageNamespace = 'same' | 'mounts' | 'user';

/** The command that stages, gives up its rights and becomes what follows it. */
export function stagedEntry(
  mounts: readonly StagedMount[],
  { uid, gid, namespace }: { readonly uid: number; readonly gid: number; readonly namespace: StageNamespace },
): readonly string[] {
  const numbers = namespace === 'same' ? [0, 0] : NUMBERS[process.arch];
  if (numbers === undefined) throw new Error(`on a processor of the kind ${process.arch} nothing can be mounted by its descriptor`);
  const list = mounts.flatMap(({ source, descriptor, target, idMapped, protects = [] }) => [
    descriptor === undefined ? source : `fd:${descriptor}:${source}`,
    target,
    idMapped ? '1' : '',
    String(protects.length),
    ...protects.flatMap(({ path, isReadOnly }) => [isReadOnly ? 'ro' : 'rw', path]),
  ]);
  return [findProgram('perl') ?? 'perl', '-e', STAGED_ENTRY, '--', namespace, ...[...numbers, uid, gid].map(String), ...list, '--'];
}

const STAGED_ENTRY = String.raw`
use strict;
my ($namespace, $UNSHARE, $MOUNT, $uid, $gid) = splice @ARGV, 0, 5;
my ($OPEN_TREE, $MOVE_MOUNT, $OPENAT2, $MOUNT_SETATTR) = (428, 429, 437, 442);
my ($CLONE, $CLOEXEC, $RECURSIVE, $EMPTY_PATH) = (1, 0x80000, 0x8000, 0x1000);
sub refuse { print STDERR "tendon: $_[0]\n"; exit 125 }
sub fail { refuse("$_[0]: $!") }

sub put {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or fail($path);
  defined syswrite($file, $text) or fail($path);
}

sub user_namespace {
  my $pid = open(my $ready, '-|', 'unshare', '--user', 'sh', '-c', 'echo; exec sleep 60') or fail('unshare');
  defined readline($ready) or fail('user namespace');
  put("/proc/$pid/uid_map", "0 $uid 1\n");
  put("/proc/$pid/gid_map", "0 $gid 1\n");
  open(my $namespace, '<', "/proc/$pid/ns/user") or fail('user namespace');
  kill 'KILL', $pid;
  return $namespace;
}

sub own_user_namespace {
  syscall($UNSHARE, 0x10020000) == 0 or fail('cannot make a user namespace');
  put('/proc/self/setgroups', 'deny');
  put('/proc/self/uid_map', "$uid $uid 1\n");
  put('/proc/self/gid_map', "$gid $gid 1\n");
}

sub alone {
  my ($none, $root) = ("none", "/");
  syscall($MOUNT, $none, $root, 0, 0x44000, 0) == 0 or fail('cannot make the mounts private');
}

my $empty = "";

sub same_by_path {
  my ($held, $path) = @_;
  my $how = pack('QQQ', 0x200000 | $CLOEXEC, 0, 0x02 | 0x04);
  my $at = syscall($OPENAT2, -100, $path, $how, length($how));
  $at >= 0 or fail("a link is in its place or above it, or $path cannot be opened");
  open(my $again, '<&=', $at) or fail("cannot take $path");
  my ($is, $was) = map { join(':', (stat($_))[0, 1]) } $again, $held;
  $is eq $was or refuse('another folder has been put in the place of the workspace while the sandbox was made');
  return $again;
}

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
  my $tree = syscall($OPEN_TREE, $at, $empty, $CLONE | $CLOEXEC | $EMPTY_PATH | $RECURSIVE);
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
if ($namespace eq 'user') {
  own_user_namespace();
  alone();
} else {
  above_server();
}

my @trees;
while (@ARGV && $ARGV[0] ne '--') {
  my ($source, $target, $idmap, $count) = splice @ARGV, 0, 4;
  my @protected = splice @ARGV, 0, 2 * $count;
  my $path = $source;
  my $held;
  if ($source =~ /^fd:(\d+):(.*)$/s) {
    open($held, '<&=', $1 + 0) or fail("cannot take $source");
    $held = same_by_path($held, $2) if $namespace eq 'user';
    $path = '/proc/self/fd/' . fileno($held);
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
if ($namespace eq 'mounts') {
  syscall($UNSHARE, 0x20000) == 0 or fail('cannot make a mount namespace');
  alone();
}
for (@trees) {
  my ($tree, $target) = @$_;
  syscall($MOVE_MOUNT, $tree, $empty, -100, $target, 4) == 0 or fail("cannot mount at $target");
}
# What was taken from the host's namespace is still tied to it.
alone() if $namespace eq 'mounts';
for (@trees) {
  my ($tree, $target, @protected) = @$_;
  protect($target, splice @protected, 0, 2) while @protected;
}
# An ordinary user who becomes another program has no rights in the namespace any more.
exec(@ARGV) or fail("cannot run $ARGV[0]") if $namespace eq 'user';
exec('setpriv', '--reuid', $uid, '--regid', $gid, '--clear-groups', '--inh-caps=-all', '--', @ARGV) or fail('cannot run setpriv');
`;
