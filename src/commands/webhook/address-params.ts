import { local } from '../../api/endpoint.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import { option } from '../params.ts';

export const addressParams = {
  file: option.text('file of addresses, - for stdin (formats: sotra help bulk)'),
  walletAddresses: local(optional(listOf(text({ minLength: 0 }))), 'addresses, instead of a file', {
    takesAddress: 'wallet',
  }),
  column: option.text('column or JSON field that holds the addresses', { valueName: 'name' }),
  allowBadChecksum: option.flag('accept a wrong EIP-55 checksum'),
  skipInvalid: option.flag('skip bad lines instead of failing'),
  rejects: option.file('write bad lines to this file, as NDJSON'),
};

export const concurrency = option.count(1, 32, 'requests at once (default: 4)');
export const showSecrets = option.flag('print the secret too');
