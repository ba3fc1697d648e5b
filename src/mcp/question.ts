/** Thrown by a tool that goes on once the user has agreed to a text. */
export class Question extends Error {
  override readonly name = 'Question';
  readonly text: string;

  constructor(text: string) {
    super('the user has to be asked');
    this.text = text;
  }
}
