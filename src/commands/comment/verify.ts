import type { Command } from '../command.ts';
import { option } from '../params.ts';
import { commentParams, formParams } from './params.ts';
import { verify as view } from './view.ts';

export function addVerify(comment: Command): void {
  comment
    .command('verify')
    .summary('Check whether an address signed a comment')
    .description('Needs no network, no API key and no private key. The exit code is 12 if the signature is not valid.')
    .params({
      ...commentParams,
      signature: option.text('the signature'),
      signer: option.text('address that should have signed', { takesAddress: 'wallet' }),
      ...formParams,
      signed: option.file('check the output of comment sign --out; - is stdin'),
    })
    .prints(view)
    .example(
      '--sandbox comment verify --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --signature 0xd295006801756382610ed2ad14fdab264e0d366423790afa93134a437ff8a5543a335a95eebfef1dca0dc26ae12b9a8bef546f5d21ba94b1eda165bd5644b2901c --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      'a valid signature',
    )
    .example(
      'comment verify --service-name Clicker --layout blank-line --chain base --tx 0x9576f0179c8926aea242fafa7ce61677196cef975f2793ec0b2988ca8a74cdd0 --token 0x940181a94a35a4569e4529a3cdfb74e38fd98631 --text gm --signature 0x34377817d8ab49dc5c0a10c38f4bedd688979aab08ccc9245a9a02c4fcf05f1637d6ada3d520cf1c1f9caf0c6eb6369323599b771c62b49e1142d900fc748b101b --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --json',
      'over the text in another layout, as JSON',
    )
    .run(async (input, context) => (await import('./run-verify.ts')).runVerify(input, context));
}
