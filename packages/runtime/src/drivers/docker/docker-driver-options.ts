import type { Limits } from '../../processes/control-group.ts';
import type { ExecutorFolder } from '../start/executor-folder.ts';
import type { OwnFolders } from '../start/prepare-folders.ts';
import type { ContainerBind, ContainerNetwork, PublishedPort } from './container-request.ts';

/** The container options of an operator. */
export interface DockerDriverOptions extends Partial<OwnFolders> {
  readonly executor: ExecutorFolder;
  /** Any Linux image of this processor; it is used as it is. */
  readonly image: string;
  /** `unix:///path` or a path; the usual ones when missing. */
  readonly host?: string;
  /** Whether an image that the engine does not have is fetched; default true. */
  readonly mayPull?: boolean;
  readonly limits?: Partial<Limits>;
  readonly network?: ContainerNetwork;
  /** The user inside if the workspace belongs to root. */
  readonly userId?: number;
  readonly volumes?: readonly ContainerBind[];
  readonly ports?: readonly PublishedPort[];
  readonly isRootReadOnly?: boolean;
  /** The OCI runtime that the engine runs containers with (`runsc`); its own default when missing. */
  readonly ociRuntime?: string;
}
