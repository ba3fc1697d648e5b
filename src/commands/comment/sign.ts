import type { Command } from '../command.ts';
import { keyParams } from '../key/params.ts';
import { option } from '../params.ts';
import { commentParams, formParams, keyWays, readText, textArgument, walletParams } from './params.ts';
import { sign as view } from './view.ts';

export function addSign(comment: Command): void {
  comment
    .command('sign')
    .summary('Sign a comment without sending it')
    .description(
      `Needs no network and no API key. --file takes NDJSON with chain, transactionHash, tokenAddress and commentText.\n${keyWays}`,
    )
    .params({
      comment: textArgument,
      ...commentParams,
      ...formParams,
      ...keyParams,
      ...walletParams,
      signer: option.text('address that must sign; any other is an error', { takesAddress: 'wallet' }),
      file: option.text('sign many: NDJSON; - is stdin'),
      out: option.file('write the signed comment to this file'),
    })
    .changes()
    .shares('timeout')
    .prints(view)
    .example(
      '--sandbox comment sign --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --dry-run',
      'the text that would be signed',
    )
    .example(
      '--sandbox comment sign --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --browser --dry-run',
      'what a browser wallet would sign; without --dry-run it signs',
    )
    .example(
      'comment sign --chain hyperliquid --tx 52012345678 --token ETH --text gm --service-name Clicker --layout blank-line --dry-run --json',
      'the text for a perp order in another layout, as JSON',
    )
    .run(async (input, context) => (await import('./run-sign.ts')).runSign(readText(input), context));
}
