import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';

/** A kept key as it is shown: all that is known without its password. */
export interface ShownKey {
  name: string;
  family: 'evm' | 'solana';
  address: string;
  file: string;
  /** Where the key that it replaced is now. */
  backup?: string;
}

/** The kept keys, one line each. */
export const keyView: View<readonly ShownKey[] | ShownKey, ShownKey> = {
  layout: 'table',
  rows: (answer) => ('name' in answer ? [answer] : answer),
  columns: [
    column.text('name', 'Name', 'name of the key, for --key'),
    column.text('family', 'Kind', 'evm or solana'),
    column.text('address', 'Address', 'address that it signs as', { tone: 'strong', cut: 'middle', keep: 44 }),
    column.text('file', 'File', 'encrypted file that holds it', { drop: 1, cut: 'middle' }),
    column.address('backup', 'Backup', 'file of the key that it replaced', { extra: true }),
  ],
  empty: 'No keys are kept. Make one: sotra key generate <name>.',
};
