import type { StoredKey } from '../../keys/keystore.ts';
import { column } from '../../lib/output/columns.ts';
import type { View } from '../../lib/output/view.ts';

export interface ShownKey extends StoredKey {
  backup?: string;
}

/** A stored key, or a list of them. */
export const keyView: View<readonly ShownKey[] | ShownKey, ShownKey> = {
  layout: 'table',
  rows: (answer) => ('name' in answer ? [answer] : answer),
  columns: [
    column.text('name', 'Name', 'name of the key, for --key'),
    column.text('family', 'Kind', 'evm or solana'),
    column.address('address', 'Address', 'address that it signs for', { tone: 'strong' }),
    column.text('file', 'File', 'encrypted file that holds it', { drop: 1, cut: true }),
    column.address('backup', 'Backup', 'file of the key that was replaced', { extra: true }),
  ],
  empty: 'No stored keys. Generate one: sotra key generate <name>.',
};
