/** Whether answers of this model are the scripted demonstration, which is said wherever they are shown. */
export function isDemoModel(name: string | null | undefined): boolean {
  return name === 'demo' || (name?.startsWith('demo/') ?? false);
}
