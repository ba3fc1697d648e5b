import { option } from '../params.ts';

/** Which call, by default the newest. */
export const callParam = option.checked(
  'number of the call in sotra history (1 is the newest), or its id, such as c42',
  (text) => /^c?[1-9]\d{0,14}$/.test(text),
  'must be a number from 1, or an id such as c42',
  { positional: true },
);
