import type { Command } from '../command.ts';
import { verifyParams } from './params.ts';
import { verdict } from './view.ts';

export function addVerify(webhook: Command): void {
  webhook
    .command('verify')
    .summary('Check the signature of a saved delivery')
    .description('Exit 12 if it is not valid, with the reason.')
    .params(verifyParams)
    .example(
      "webhook verify --secret-file hook.secret --header 't=1565125718,v1=hU7OTCKs73xmtX1OUEFTvFEllejpx3Ls4qaBUFSMGac' < body.json",
      'a saved body',
    )
    .prints(verdict)
    .run(async (input, context) => (await import('./run-verify.ts')).verifySaved(input, context));
}
