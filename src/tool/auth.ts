import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import { local } from '../contract/endpoint.ts';
import { keyStores } from '../settings/settings.ts';

const login = defineCommand({
  words: ['auth', 'login'],
  summary: 'Store an API key for a context',
  description:
    'Asks for the key without showing it, checks it with one small request (the first place of the leaderboard), and stores it for the\n' +
    "origin of the context's base URL: it is never sent anywhere else. With --base-url a new context is made at the same time.\n" +
    'Keys are never taken from arguments, where other users of the machine could read them.',
  params: {
    withKey: local(z.boolean().optional(), 'read the key from stdin: sotra auth login --with-key < key.txt'),
    offline: local(z.boolean().optional(), 'store the key without checking it'),
    store: local(
      z.enum(keyStores).optional(),
      'where to keep it; left out, where the key of this context is kept now, or else the settings file (mode 0600)',
    ),
  },
  examples: [
    { argv: 'auth login --context clicker', says: 'asks for the key of the public deployment' },
    {
      argv: 'auth login --context staging --base-url https://staging.example.com --with-key --offline < key.txt',
      says: 'a new context with its key from a file',
    },
  ],
  uses: ['requests', 'changes'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  run: async (input, context) => (await import('./auth-login.ts')).login(input, context),
});

const logout = defineCommand({
  words: ['auth', 'logout'],
  summary: 'Remove the stored API key of a context',
  params: {},
  examples: [
    { argv: 'auth logout', says: 'of the current context' },
    { argv: 'auth logout --context staging', says: 'of another one' },
  ],
  uses: ['service', 'changes'],
  exitCodes: [3],
  run: async (_, context) => (await import('./auth-login.ts')).logout(context),
});

const status = defineCommand({
  words: ['auth', 'status'],
  summary: 'Which API key is used, where it comes from and where it is kept',
  description: 'Ends with exit code 4 when there is no key, and with --check when the service refuses it.',
  params: { check: local(z.boolean().optional(), 'ask the service whether it takes the key') },
  examples: [
    { argv: '--sandbox auth status', says: "the sandbox's own key" },
    { argv: '--sandbox auth status --check --json', says: 'as JSON, with the answer of the service' },
  ],
  uses: ['requests'],
  exitCodes: [3, 4, 6, 7, 8, 9, 13],
  view: async () => (await import('./auth-status.ts')).statusView,
  run: async (input, context) => (await import('./auth-status.ts')).authStatus(input, context),
});

/** The commands about API keys. */
export const commands: readonly Command[] = [login, logout, status];
