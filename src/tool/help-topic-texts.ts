import type { Line, Part } from '../cli/help.ts';
import { exitCodeOf, exitMeanings } from '../errors.ts';
import type { Topic } from './help-topics.ts';

/** The parts of a topic's page. */
export function topicParts(topic: Topic): readonly Part[] {
  return pages[topic]();
}

const pages: Record<Topic, () => readonly Part[]> = {
  'exit-codes': () => [
    [
      '',
      'A script can tell by the exit code what happened. With --json an error is one JSON object on stderr, and stdout stays empty.',
    ],
    ['EXIT CODES', Object.entries(exitMeanings).map(([code, says]): Line => [code, withErrors(Number(code), says)])],
    ['THE ERROR OBJECT', ['{"error":{"code","message","hint","status","exitCode","requestId"}}']],
    [
      '',
      'code is one of the names in brackets above and does not change between versions; status and requestId are those of the answer, or null; details is there where more is known, such as the rejected lines.',
    ],
    ['EXAMPLES', ['sotra leaderboard list --json > out.json || echo "ended with $?"']],
  ],
  environment: () => [
    [
      '',
      'A flag goes before a variable, a variable before the stored context. A variable that is set but empty counts as not set.',
    ],
    [
      'WHICH SERVICE',
      [
        ['SOTRA_API_KEY', 'the API key; goes before a stored one'],
        ['SOTRA_BASE_URL', 'address of the service; not used beside --context or --sandbox'],
        ['SOTRA_CONTEXT', 'the context to use'],
      ],
    ],
    [
      'WHERE THINGS ARE KEPT',
      [
        ['SOTRA_CONFIG_DIR', 'folder of the settings: contexts, keys, aliases (config.json, mode 0600)'],
        ['SOTRA_DATA_DIR', 'folder of the sandbox and of unfinished work'],
        ['XDG_CONFIG_HOME', 'holds the folder sotra of settings where SOTRA_CONFIG_DIR is not set (Windows: APPDATA)'],
        ['XDG_DATA_HOME', 'holds the folder sotra of data where SOTRA_DATA_DIR is not set (Windows: LOCALAPPDATA)'],
      ],
    ],
    [
      'THE TERMINAL',
      [
        ['NO_COLOR', 'no colors, when it is not empty'],
        ['FORCE_COLOR', '0 to 3: colors also without a terminal; goes before NO_COLOR'],
        ['COLUMNS', 'width to write for'],
        ['TERM', 'dumb: no colors'],
      ],
    ],
    ['MORE', ['sotra auth status', 'sotra context list', 'sotra doctor']],
  ],
  formatting: () => [
    [
      '',
      'On a terminal results are tables that fit its width; into a pipe the same rows go separated by tabs, without a header. stdout is the result and nothing else: notes, warnings and progress go to stderr.',
    ],
    [
      'FORMATS',
      [
        ['--json', "the service's JSON unchanged: big numbers, repeated keys and unknown fields stay"],
        ['--format ndjson', 'one JSON object a line, as items arrive'],
        ['--format csv', 'with a header; text that a spreadsheet would run gets a leading quote mark'],
        ['--format tsv', 'with a header; tab, line end and backslash inside a value as \\t \\n \\\\'],
        ['--format md', 'a Markdown table'],
        ['--format table', 'the table of a terminal, also into a pipe'],
        ['--plain', 'one fact a line, without columns, for screen readers'],
      ],
    ],
    [
      'CHOOSING',
      [
        [
          '--columns a,b',
          'these columns in this order, in JSON and NDJSON as objects of these fields; the names are in the help of each command',
        ],
        ['--jq <filter>', 'what a jq filter makes of the JSON'],
        ['--all, --max <n>', 'walk further pages of a list, printing items as they arrive'],
        ['--ascii', 'rules, dashes and dots in ASCII'],
        ['--no-color', 'no colors; no meaning is carried by color alone'],
      ],
    ],
    [
      'VALUES',
      'Money is in USD, PnL is realized PnL, win rates are 0 to 1 for machines and percent for people, times are UTC. Machine formats carry unrounded numbers and whole addresses.',
    ],
    [
      'EXAMPLES',
      [
        'sotra --sandbox leaderboard list --columns rank,name,pnlUsd --format csv',
        "sotra --sandbox leaderboard list --jq '.traders[].profile.name'",
      ],
    ],
  ],
  signing: () => [
    [
      '',
      'A comment is signed by the wallet that made the trade. The signed text is fixed to the byte: lines joined by a line feed, none at the end.',
    ],
    [
      'THE TEXT (layout five-line)',
      [
        '<service name> Swap Comment:',
        'Chain: <chain>',
        'Token Address: <token>',
        'Txn Hash: <transaction hash>',
        'Comment: <text>',
      ],
    ],
    [
      '',
      'Layout blank-line has an empty line after the first; some deployments ask for it. The context holds service name and layout. EVM token addresses are written in lower case in text and request; the transaction hash and the comment are never changed.',
    ],
    [
      'SIGNATURES',
      [
        ['EVM chains', 'EIP-191 (personal_sign), 0x and 130 hex digits'],
        ['solana', 'ed25519 over the UTF-8 bytes, base58'],
      ],
    ],
    [
      'THE PRIVATE KEY',
      'It comes from a file (--key-file), from a variable that you name (--key-env), from stdin (--key-stdin), from a key that sotra keeps sealed (--key), or from a question that shows nothing. It is never taken from an argument, never stored unsealed, never printed and never sent: only the signature leaves this machine.',
    ],
    [
      'COMMANDS',
      [
        ['comment sign --preview', 'the text, line by line; needs no key'],
        ['comment sign', 'text and signature, sends nothing'],
        ['comment verify', 'whether a signature is good; exit 12 when not'],
        ['comment post', 'sign and post; --dry-run shows message and request'],
        ['context set', '--layout and --service-name: what a deployment asks for'],
      ],
    ],
  ],
  webhooks: () => [
    [
      '',
      'The service posts feed events of the addresses you name to an address of yours, signed with a secret that it shows once, at registration.',
    ],
    [
      'A DELIVERY',
      [
        ['body', '{"events": [...]}: each with eventId, eventType, walletAddresses'],
        ['daylight-signature', 't=<unix seconds>,v1=<base64url of the HMAC-SHA256 of "<t>.<body>" with the secret>'],
      ],
    ],
    [
      '',
      'Check the signature over the bytes as they arrived, before parsing them, and compare in constant time. A delivery may come more than once and late: remember eventId, and answer 2xx as soon as it is safe.',
    ],
    [
      'COMMANDS',
      [
        ['webhook register', 'make one, with any number of addresses; an interrupted upload goes on where it stopped'],
        ['webhook add-addresses', 'add addresses to one'],
        ['webhook listen', 'receive, check and show deliveries on this machine'],
        ['webhook verify', 'check one delivery; exit 12 when not genuine'],
        ['webhook trigger', 'make the sandbox send one'],
        ['webhook validate', 'whether the destination answers as it must'],
        ['webhook delete', 'take one away'],
      ],
    ],
    ['ON ONE MACHINE', ['sotra sandbox start --port 4010', 'sotra webhook listen --help']],
  ],
};

function withErrors(code: number, says: string): string {
  const errors = Object.entries(exitCodeOf).flatMap(([name, exit]) => (exit === code ? [name] : []));
  return errors.length === 0 ? says : `${says} [${errors.join(', ')}]`;
}
