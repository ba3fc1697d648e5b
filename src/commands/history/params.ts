import { option } from '../params.ts';

/** Which call, by default the newest. */
export const callParam = option.checked(
  'number of the call in sotra history (1 is the newest), or its id, such as c3f9a07b1',
  (text) => /^(?:[1-9]\d{0,14}|c[\da-f]{8})$/.test(text),
  'must be a number from 1, or an id such as c3f9a07b1',
  { positional: true },
);
