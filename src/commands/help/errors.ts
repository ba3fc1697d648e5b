import type { ErrorCode } from '../../errors.ts';

/** What each error means, and what helps. */
export const errorTexts: Record<ErrorCode, readonly [means: string, fix: string]> = {
  internal: ['a bug in sotra', 'Run the command again with --verbose and report what it prints.'],
  usage: ['a flag, argument or file was refused before anything was sent', 'The message names it; see --help.'],
  'no-service': ['no service was named', 'Log in with sotra auth login, use --sandbox, or set SOTRA_BASE_URL.'],
  'insecure-url': [
    'a key or password would be sent in the clear',
    'Use https or tls; http and nats are for loopback only.',
  ],
  config: ['the settings, or a local file or folder, cannot be used', 'Run sotra doctor.'],
  locked: ['another process is using it', 'Wait until that process has ended, or end it.'],
  'local-file': ['a file cannot be read or written', 'Check its path, its permissions and the disk space.'],
  'key-missing': ['there is no API key for the service', 'Set SOTRA_API_KEY, or run sotra auth login.'],
  'key-refused': ['the service refused the API key (401)', 'Run sotra auth status to see which key is used.'],
  forbidden: ['the API key may not do this (403)', 'Ask the service for the permission, or use another key.'],
  'not-found': ['the service has no such item (404)', 'Check the identifier with sotra profile get.'],
  'bad-request': ['the service refused the request (400)', 'See what was sent with --verbose or --curl.'],
  conflict: ['it already exists or was changed in the meantime (409)', 'Choose another name, or look at it first.'],
  'too-large': ['the request was too large for the service (413)', 'Send fewer items at a time.'],
  'request-refused': ['the service refused the request (another 4xx)', 'See its answer with --verbose.'],
  'rate-limited': [
    'the service asked to slow down (429), also after all retries',
    'Wait as long as it says (retryAfterSec in the JSON error), or allow a longer wait with --timeout.',
  ],
  'server-error': [
    'the service failed (5xx), also after all retries',
    'Try again later, or report the request id to the service.',
  ],
  network: ['the connection failed or broke', 'Check the base URL and the network with sotra doctor.'],
  timeout: ['no answer in time', 'Allow more with --timeout.'],
  redirect: ['the service redirected to another address, and the key is not sent there', 'Correct the base URL.'],
  partial: ['part of the work was done; the rest can be resumed', 'Run the command that the message names.'],
  'signing-key': ['the private key cannot be read or used', 'Check the key with sotra key list or its file.'],
  verification: [
    'a signature, a delivery or a returned comment failed verification',
    'The message says which check failed.',
  ],
  'bad-answer': [
    'the answer is not JSON, is too large or cannot be decoded',
    'Check that the base URL is the service itself.',
  ],
  contract: ['the answer does not match the interface', 'See the raw answer with sotra request.'],
  'wait-timeout': ['the command gave up waiting', 'Wait longer, or check what it was waiting for.'],
  interrupted: [
    'Ctrl-C (130), SIGTERM (143) or SIGHUP (129) ended it',
    'Run it again; uploads resume where they stopped.',
  ],
};
