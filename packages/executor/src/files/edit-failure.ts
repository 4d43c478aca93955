/** An edit that was not made, for a reason the model can act on. The file is as it was. */
export class EditFailure extends Error {
  override name = 'EditFailure';
}
