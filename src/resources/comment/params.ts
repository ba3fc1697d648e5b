import { z } from 'zod';
import { local } from '../../contract/endpoint.ts';
import { chainSchema } from '../../model/chain.ts';
import { commentTextSchema, post } from './endpoints.ts';
import { encodings } from './verify-forms.ts';

/** The layouts of the signed text; `--layout`. */
const layoutSchema = z.enum(['five-line', 'blank-line']);

/** What a comment is about, typed as for `comment post`; left out where it comes from a file. */
export const commentParams = {
  chain: local(chainSchema.optional(), 'chain of the swap'),
  transactionHash: local(z.string().min(1).optional(), post.params.transactionHash.help, { flag: 'tx' }),
  tokenAddress: local(z.string().min(1).optional(), post.params.tokenAddress.help, {
    flag: 'token',
    takesAddress: 'token',
  }),
  commentText: local(commentTextSchema.optional(), 'the comment', { flag: 'text' }),
  textFile: local(z.string().min(1).optional(), 'file with the comment, byte for byte; - is stdin'),
};

/** The form of the signed text. */
export const formParams = {
  serviceName: local(z.string().min(1).optional(), 'first word of the signed text; left out, that of the context'),
  layout: local(layoutSchema.optional(), 'form of the signed text; left out, that of the context, else five-line'),
};

/** Where the key comes from; never an argument. One of them; left out on a terminal, it is asked for without echo. */
export const keyParams = {
  keyFile: local(
    z.string().min(1).optional(),
    'file with the key: hex, a Solana keypair (CLI JSON or base58), or a V3 keystore',
  ),
  keyEnv: local(z.string().min(1).optional(), 'name of the environment variable that holds the key'),
  keyStdin: local(z.boolean().optional(), 'read the key from stdin'),
  key: local(z.string().min(1).optional(), 'name of a key that sotra keeps (see sotra key list)'),
  passwordFile: local(z.string().min(1).optional(), 'file with the password of a keystore or kept key'),
};

export const encodingParam = local(
  z.enum(encodings).optional(),
  'text form of a Solana signature; the service takes base58',
);

export interface CommentInput {
  chain?: z.output<typeof chainSchema> | undefined;
  transactionHash?: string | undefined;
  tokenAddress?: string | undefined;
  commentText?: string | undefined;
  textFile?: string | undefined;
}

export interface FormInput {
  serviceName?: string | undefined;
  layout?: z.output<typeof layoutSchema> | undefined;
}

export interface KeyInput {
  keyFile?: string | undefined;
  keyEnv?: string | undefined;
  keyStdin?: boolean | undefined;
  key?: string | undefined;
  passwordFile?: string | undefined;
}
