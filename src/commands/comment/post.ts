import { post as endpoint } from '../../api/comment.ts';
import type { Command } from '../command.ts';
import { keyParams } from '../key/params.ts';
import { option } from '../params.ts';
import { commentParams, formParams, keyWays, readText, textArgument, walletParams } from './params.ts';
import { post as view } from './view.ts';

export function addPost(comment: Command): void {
  const { id, method, path, source, summary } = endpoint;
  const command = comment
    .command('post')
    .summary(summary)
    .description(
      `On a terminal it shows the text and asks first. If the response is lost, it looks the comment up and never posts twice; --file resumes where it stopped.\n${keyWays}\nSends ${method} ${path}.`,
    );
  command.endpoint = { id, method, path, source };
  command
    .params({
      comment: textArgument,
      ...commentParams,
      last: option.flag("the signer's newest swap without a comment"),
      signature: option.text('signature made elsewhere; needs --signer'),
      signer: option.text('address that signed (--signature) or must sign', { takesAddress: 'wallet' }),
      ...formParams,
      ...keyParams,
      ...walletParams,
      signed: option.file('post the output of comment sign --out; - is stdin'),
      file: option.text('post many, in order: NDJSON; - is stdin'),
    })
    .requests()
    .prints(view)
    .example(
      'comment post --chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --text gm --key trader',
      'sign with a stored key (sotra key generate trader), and post',
    )
    .example('comment post gm --key trader --last', 'on the newest swap of the wallet of the key')
    .example(
      '--sandbox comment post --chain base --tx 0x5cdbd22c1a2a1b1ee7c9ecd4b2a6a0d5f02ea3fbf4d1cf1ac3a4de86fd8ad911 --token 0x4ed4e862860bed51a9570b96d89af5e1b0efefed --text gm --signature 0x2696a310f3880c8b1273a8c34f8bf29253ccad9790d8ef635f5635118be0a9ab323c9dd247b3d0daad9a862d1bf9469df63b14d676045a00c0c8d43b4a9cda6a1b --signer 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
      'post a comment that was signed elsewhere, in the sandbox',
    )
    .run(async (typed, context) => {
      const input = readText(typed);
      if (input.file === undefined) return (await import('./post-one.ts')).postOne(input, context);
      return (await import('./post-many.ts')).postMany({ ...input, file: input.file }, context);
    });
}
