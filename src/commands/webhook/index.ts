import { local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import { listOf, optional, text } from '../../api/kind.ts';
import * as endpoints from '../../api/webhook.ts';
import { maskSecrets } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { errorExitCodes, toSotraError } from '../../errors.ts';
import type { Result } from '../../lib/output/view.ts';
import type { UploadInput } from '../../upload/make-webhook.ts';
import { synced, uploaded } from '../../upload/view.ts';
import type { Command } from '../command.ts';
import { addEndpointCommand, describeEndpoint } from '../endpoint-command.ts';
import { option } from '../params.ts';
import {
  eventsParams,
  examParams,
  forwardParams,
  listenParams,
  replayParams,
  showParams,
  triggerParams,
  verifyParams,
} from './params.ts';
import { deleted, events, examined, replayed, shown, triggered, validated, verdict, list as view } from './view.ts';

export function setUp(webhook: Command): void {
  describeEndpoint(
    webhook,
    'register',
    endpoints.register,
    `${howItSends} and never registers a second webhook.\nRun it on one machine at a time per URL.`,
  )
    .params({
      destinationUrl: local(httpAddressKind, 'destination of the feed items', { flag: 'url' }),
      ...webhookParams,
      another: option.flag('register even if the URL already has a webhook'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(upload('register'));

  addEndpointCommand(webhook, 'list', endpoints.list, {
    view,
    params: { showSecrets: option.flag('show secrets instead of masking them') },
    description: 'Lists unfinished uploads from this machine on stderr, with the command that resumes each.',
    onAnswer: async (data, { showSecrets }, context) => {
      const { describeUnfinished, listUploads } = await import('../../upload/state.ts');
      const uploads = await listUploads(context).catch((thrown: unknown) => {
        context.warn(toSotraError(thrown).message);
        return [];
      });
      const isListed = (uid: string) => !Array.isArray(data) || data.some((each) => each.uid === uid);
      const answer = maskSecrets(data);
      return {
        ...(!showSecrets && { answer, text: JSON.stringify(answer) }),
        notes: describeUnfinished(uploads, isListed),
      };
    },
  });

  describeEndpoint(webhook, 'add-addresses', endpoints.addAddresses, `${howItSends}.`)
    .params({
      uid,
      ...addressParams,
      again: option.flag('resend a list that is already confirmed'),
    })
    .requests()
    .changes()
    .prints(uploaded)
    .run(upload('add-addresses'));

  addEndpointCommand(webhook, 'delete', endpoints.remove, {
    view: deleted,
    description: 'Its addresses and its secret are lost. Asks on a terminal; elsewhere it needs --yes.',
    confirms: ({ uid }) => `delete webhook ${uid} with its addresses and its secret`,
  });

  addEndpointCommand(webhook, 'validate', endpoints.validate, {
    view: validated,
    onAnswer: async (data) => ({ exitCode: data?.success === false ? errorExitCodes.verification : 0 }),
  });

  webhook
    .command('sync')
    .summary('Keep the addresses of a webhook in sync with a file')
    .description(
      'Registers a webhook if the URL has none, then sends the addresses that this machine has not sent yet: keep its data directory between ' +
        'runs. The same command resumes an interrupted run.\n' +
        'The service cannot remove addresses: those that left the file are listed in a file of their own. --replace registers a new webhook ' +
        'without them and deletes the old one. If the service allows one webhook per URL, it deletes the old one first and reports the gap.',
    )
    .params(
      {
        uid: { ...uid, kind: optional(uid.kind) },
        destinationUrl: local(optional(httpAddressKind), 'destination of the webhook, instead of its uid', {
          flag: 'url',
        }),
        ...webhookParams,
        check: option.flag('send nothing; exit 10 if addresses are missing, 2 for bad lines'),
        exact: option.flag('with --check: exit 10 also if addresses left the file', { needs: 'check' }),
        replace: option.flag('replace the webhook if addresses left the file (asks, or --yes)', {
          needs: 'destinationUrl',
        }),
      },
      [['uid', 'destinationUrl']],
    )
    .example(
      'webhook sync --url http://127.0.0.1:4242/hook --file users.csv --secret-file hook.secret',
      'register, or send what is new',
    )
    .example('webhook sync --url http://127.0.0.1:4242/hook --file users.csv --check --json', 'what would be sent')
    .requests()
    .changes()
    .prints(synced)
    .run(upload('sync'));

  webhook
    .command('listen')
    .summary('Receive deliveries: verify, store, print and forward their events')
    .description(
      'Answers 2xx once an event is stored on disk, 401 if the signature does not match, 503 if it cannot be stored. An event that comes again ' +
        'is stored and printed once. --keep never deletes events that wait to be forwarded.\n' +
        'Forwards the original bytes and headers, in order per webhook, and retries for a day, also after a restart. A delivery that ' +
        'is not accepted by then, or is answered 3xx or 4xx ten times, is set aside (webhook events --status failed) and the next one is sent. ' +
        'Results are printed on stderr.\n' +
        'A NATS stream that does not exist is created; an existing one is not changed.',
    )
    .params(listenParams)
    .example(
      'webhook listen --port 4242 --secret-file hook.secret --forward-to http://127.0.0.1:3000/hook',
      'verify, and forward to your own server',
    )
    .shares('retries')
    .changes()
    .run(async (input, context) => (await import('./run-listen.ts')).listenForEvents(input, context));

  webhook
    .command('forward')
    .summary('Forward the deliveries that webhook listen stores')
    .description(
      'For a listener that runs without --forward-to. A new target starts with the next delivery.\n' +
        'One process at a time forwards from a local store; from a NATS stream, several share the work and take over from each other.',
    )
    .params(forwardParams, [['forwardTo', 'route']])
    .example('webhook forward --forward-to http://127.0.0.1:3000/hook', 'until Ctrl-C')
    .shares('retries')
    .changes()
    .run(async (input, context) => (await import('./run-forward.ts')).forwardDeliveries(input, context));

  webhook
    .command('events')
    .summary('List the events that webhook listen stored, newest first')
    .description(
      'Status is waiting until every target accepted the event, then forwarded, or failed if it was set aside for one of them.\n' +
        '--wait prints the oldest event that matches: one received from now on, or since --since.',
    )
    .params(eventsParams)
    .example('webhook events --since 1h', 'the last hour')
    .example('webhook events --type copyswap --status waiting', 'copied trades that are not forwarded yet')
    .example('webhook events --type comment-created --wait 30s', 'the next comment')
    .prints(events)
    .run(async (input, context) => {
      const { followEvents, showEvents, waitForEvent } = await import('./run-events.ts');
      if (input.wait !== undefined) return waitForEvent(input, context);
      return input.follow ? followEvents(input, context) : showEvents(input, context);
    });

  webhook
    .command('show')
    .summary('Show a stored event: headers, body, signature, forwarding')
    .params(showParams)
    .example('webhook show 2f1d', 'the event whose id starts with 2f1d')
    .prints(shown)
    .run(async (input, context) => (await import('./run-events.ts')).showEvent(input, context));

  webhook
    .command('replay')
    .summary('Send stored deliveries again, with their original bytes and headers')
    .description(
      'The signature is the original one: a receiver with a tolerance rejects it once it is too old.\n' +
        '--failed sends the deliveries that were set aside because a target did not accept them; those accepted now count as forwarded.\n' +
        'Each delivery is tried three times. Nothing more is sent after one that is not answered within --timeout. Exit 10 if one is not ' +
        'accepted.',
    )
    .params(replayParams)
    .example('webhook replay --since 1h --to http://127.0.0.1:3000/hook', 'the last hour again')
    .shares('dryRun', 'curl', 'timeout', 'retries')
    .changes()
    .prints(replayed)
    .run(async (input, context) => (await import('./run-replay.ts')).replayEvents(input, context));

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
    .run(async (input, context) => (await import('./verification.ts')).verifySaved(input, context));

  webhook
    .command('trigger')
    .summary('Send a signed event of the sandbox')
    .description(
      'The event is about a position of the sandbox. It goes to the webhooks of the sandbox, or once to the URL of --to, signed with the secret ' +
        'of the webhook for that URL unless --secret-file names another. Exit 9 if it is not accepted.',
    )
    .params(triggerParams)
    .example('webhook trigger new-feed-item --sandbox', 'to every webhook of the sandbox')
    .example(
      'webhook trigger comment-created --to http://127.0.0.1:4242/hook --secret-file hook.secret',
      'to one address',
    )
    .shares('dryRun', 'curl', 'timeout')
    .changes()
    .prints(triggered)
    .run(async (input, context) => (await import('./run-trigger.ts')).triggerEvent(input, context));

  webhook
    .command('exam')
    .summary('Check that an endpoint accepts valid deliveries and rejects forged ones')
    .description(
      'Sends ten deliveries: valid, repeated, out of order, wrong signature, unsigned, an hour old, unknown type, empty, 5 MB, slow. A case fails ' +
        'if the endpoint accepts a forged delivery, rejects a valid one, or does not answer within --timeout (default: 10s). An unmet ' +
        'recommendation is only a warning. Each event names the wallet 0x0000000000000000000000000000000000000001 only.\n' +
        'Asks before it sends to another machine. Exit 12 if a case fails, 9 if nothing listens.',
    )
    .params(examParams)
    .example('webhook exam http://127.0.0.1:4242/hook --secret-file hook.secret', 'ten cases, one per line')
    .example(
      'webhook exam http://127.0.0.1:4242/hook --secret-file hook.secret --junit exam.xml',
      'for CI: with a report',
    )
    .shares('timeout')
    .changes()
    .prints(examined)
    .run(async (input, context) => (await import('./run-exam.ts')).examineEndpoint(input, context));
}

const howItSends =
  'Checks every line before anything is sent, then sends 1,000 addresses per request. After a failure or a crash, the same command resumes';

const addressParams = {
  file: option.text('file of addresses, - for stdin (formats: sotra help bulk)'),
  walletAddresses: local(optional(listOf(text({ minLength: 0 }))), 'addresses, instead of a file', {
    takesAddress: 'wallet',
    conflicts: ['file'],
  }),
  column: option.text('column or JSON field that holds the addresses', { valueName: 'name', needs: 'file' }),
  allowBadChecksum: option.flag('accept a wrong EIP-55 checksum'),
  skipInvalid: option.flag('skip bad lines instead of failing'),
  rejects: option.file('write bad lines to this file, as NDJSON'),
  concurrency: option.count(1, 32, 'requests at once (default: 4)'),
};

const webhookParams = {
  ...addressParams,
  secretFile: option.text('add the secret to this file (mode 0600)', { needs: 'destinationUrl' }),
  showSecrets: option.flag('print the secret too'),
};

const { uid } = endpoints.addAddresses.params;

function upload(task: UploadInput['task']) {
  return async (input: Omit<UploadInput, 'task'>, context: Context): Promise<Result> =>
    (await import('../../upload/upload.ts')).uploadAddresses({ ...input, task }, context);
}
