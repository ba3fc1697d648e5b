import { option } from '../params.ts';

/** Where a private key comes from: exactly one of them, never an argument. A terminal asks if none is given. */
export const keySourceParams = {
  keyFile: option.text('key file: hex, Solana keypair or V3 keystore'),
  keyEnv: option.text('environment variable with the key', { valueName: 'variable' }),
  keyStdin: option.flag('read the key from stdin'),
};

export const passwordFileParam = option.text('file with the password of the key');

/** The sources of a command that signs, which also takes a stored key. */
export const keyParams = {
  ...keySourceParams,
  key: option.text('stored key (see sotra key list)', { valueName: 'name' }),
  passwordFile: passwordFileParam,
};
