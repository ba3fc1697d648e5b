import { randomBytes } from 'node:crypto';
import type { Context } from '../context.ts';
import { SotraError } from '../errors.ts';
import { makeSigner } from '../keys/signer.ts';
import { post } from '../resources/comment/endpoints.ts';
import { signedText, type TextForm } from '../resources/comment/signing.ts';
import { layouts } from '../settings/settings.ts';

export type Form = TextForm;

const randomHex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`;

/**
 * The form of signed texts that a service accepts, of these service names; `undefined` where its answers do not tell. Sends comments on a
 * trade that does not exist, signed by a key that nobody keeps: a service answers a fitting signature otherwise than one that does not fit.
 */
export async function probeSigning(serviceNames: readonly string[], context: Context): Promise<Form | undefined> {
  const signer = await makeSigner('evm', randomBytes(32), 'base58');
  const fields = {
    chain: 'base',
    tokenAddress: randomHex(20),
    transactionHash: randomHex(32),
    commentText: 'Does this signature fit?',
  } as const;
  const refusalOf = async (text: string) => {
    const signature = await signer.sign(text);
    return askRefusal({ ...fields, signature, signerAddress: signer.address }, context);
  };
  const unfitting = await refusalOf('one text');
  if (unfitting === undefined || (await refusalOf('another text')) !== unfitting) return undefined;
  for (const serviceName of serviceNames)
    for (const layout of layouts) {
      const refusal = await refusalOf(signedText(fields, { serviceName, layout }));
      if (refusal === undefined) return undefined;
      if (refusal !== unfitting) return { serviceName, layout };
    }
  return undefined;
}

/** The refusal without its values, which differ from request to request; `undefined` for any other answer. */
async function askRefusal(input: object, context: Context) {
  try {
    await context.call(post, input as never, undefined, 0);
    return undefined;
  } catch (error) {
    if (!(error instanceof SotraError) || error.code !== 'bad-request') return undefined;
    return (error.body ?? error.message).replaceAll(/0x[0-9a-f…]+|\d+/gi, '');
  }
}
