import { list as endpoint } from '../../api/comment.ts';
import { local } from '../../api/endpoint.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import { transactionProblem } from '../../api/signed-text.ts';
import { inputError } from '../../errors.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand } from '../endpoint-command.ts';
import { list as view } from './view.ts';

export function addList(comment: Command): void {
  addEndpointCommand(comment, 'list', endpoint, {
    view,
    params: {
      hashes: { ...endpoint.params.hashes, kind: optional(endpoint.params.hashes.kind) },
      tx: local(optional(listOf(text())), 'same as <hash...>', { valueName: 'hash' }),
    },
    requireAnyOf: [['hashes', 'tx']],
    prepare: ({ hashes = [], tx = [], ...rest }) => {
      checkHashes('hashes', hashes, rest.chain);
      checkHashes('tx', tx, rest.chain);
      return { ...rest, hashes: [...hashes, ...tx] };
    },
  });
}

/** Errors: `usage`, naming the input. */
function checkHashes(key: string, hashes: readonly string[], chain: string): void {
  for (const hash of hashes) {
    const problem = transactionProblem(chain, hash);
    if (problem !== undefined) throw inputError((name) => ({ message: `${name(key)} ${hash}: ${problem}` }));
  }
}
