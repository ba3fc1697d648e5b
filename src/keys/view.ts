import { addressCell } from '../output/format.ts';
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
    { key: 'name', header: 'Name', help: 'name of the key, for --key', value: (key) => key.name },
    { key: 'family', header: 'Kind', help: 'evm or solana', value: (key) => key.family },
    {
      key: 'address',
      header: 'Address',
      help: 'address that it signs as',
      value: (key) => key.address,
      show: (key) => ({ text: key.address, tone: 'strong' }),
      cut: 'middle',
      keep: 44,
    },
    {
      key: 'file',
      header: 'File',
      help: 'where it is kept, sealed',
      value: (key) => key.file,
      show: (key) => key.file,
      drop: 1,
      cut: 'middle',
    },
    {
      key: 'backup',
      header: 'Backup',
      help: 'where the key that it replaced is now',
      value: (key) => key.backup,
      show: (key) => addressCell(key.backup),
      extra: true,
    },
  ],
  empty: 'No keys are kept. Make one: sotra key generate <name>.',
};
