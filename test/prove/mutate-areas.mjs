const sources = (names) => names.split(' ').map((name) => `src/${name}.ts`);
const tests = (names) => names.split(' ');
const uploadTests = tests(
  'cli/webhook/upload cli/webhook/sync cli/follow/bulk cli/webhook/list cli/webhook/upload-once',
);

/**
 * What is mutated together, and the tests in this process that are about it: those that start the built program see no mutant. Few tests,
 * and quick ones, since each mutant starts them anew.
 */
export const areas = {
  retry: { files: sources('client/retry'), tests: tests('unit/client/retry') },
  request: {
    files: sources('api/request api/kind api/formats client/preview client/failures client/hints'),
    tests: tests('unit/api/request unit/api/kind unit/client/preview unit/client/failures'),
  },
  wire: { files: sources('api/endpoint'), tests: tests('unit/api/request law/wire') },
  client: { files: sources('client/client'), tests: tests('unit/client/client cli/http cli/http-limits') },
  secrets: { files: sources('client/secrets'), tests: tests('unit/client/secrets') },
  transport: {
    files: sources('client/transport'),
    tests: tests('unit/client/network cli/http cli/http-limits cli/http-hints'),
  },
  answers: { files: sources('api/mismatch'), tests: tests('unit/api/mismatch cli/mismatches') },
  pages: { files: sources('client/paginate'), tests: tests('unit/client/paginate cli/pages') },
  documents: {
    files: sources('client/observe api/openapi'),
    tests: tests('unit/client/observe cli/trace cli/history/har unit/api/openapi'),
  },
  signature: {
    files: sources('api/webhook-signature api/signature-header'),
    tests: tests('cli/webhook/verify unit/api/webhook-signature'),
  },
  positions: {
    files: sources('sandbox/ledger/positions'),
    tests: tests('unit/sandbox/ledger/positions unit/sandbox/ledger/positions-hyperliquid'),
  },
  signing: {
    files: sources('api/signed-text commands/comment/signer'),
    tests: tests(
      'unit/commands/comment/signing-rules cli/comment/signing-vectors cli/comment/signing-text cli/comment/sign cli/comment/read cli/comment/ways cli/comment/signer-command cli/comment/browser',
    ),
  },
  signer: {
    files: sources('keys/signer'),
    tests: tests(
      'cli/comment/signing-vectors cli/comment/signer-command cli/comment/sign unit/keys/private-key unit/lib/quoted',
    ),
  },
  curve: {
    files: sources('api/verify-signature api/checksum'),
    tests: tests(
      'cli/comment/signing-vectors cli/comment/signing-independent unit/commands/comment/verify unit/commands/comment/signing-rules unit/api/checksum unit/library/signing',
    ),
  },
  'comment-read': {
    files: sources('commands/comment/read-comment'),
    tests: tests('cli/comment/read'),
  },
  'comment-sign': {
    files: sources('commands/comment/sign'),
    tests: tests('cli/comment/sign cli/comment/read cli/comment/batch'),
  },
  'comment-post': {
    files: sources('commands/comment/post commands/comment/send-comment'),
    tests: tests(
      'unit/commands/comment/send-comment cli/comment/ways cli/comment/post cli/comment/signer-command cli/comment/find-swap',
    ),
  },
  'key-forms': {
    files: sources('keys/keystore keys/private-key'),
    tests: tests(
      'unit/keys/private-key unit/keys/keystore unit/keys/keystore-files cli/key/key-store cli/comment/signer-command',
    ),
  },
  keys: {
    files: sources('keys/open-key'),
    tests: tests(
      'cli/key/key-files cli/key/key-store cli/comment/sign cli/comment/signer-command cli/comment/find-swap cli/comment/ways',
    ),
  },
  addresses: {
    files: sources('upload/address-file'),
    tests: tests('unit/upload/address-file unit/upload/read-address cli/webhook/upload'),
  },
  'read-addresses': {
    files: sources('upload/read-addresses'),
    tests: [...tests('cli/wrong-file'), ...uploadTests],
  },
  upload: {
    files: sources('upload/send upload/state upload/confirmed'),
    tests: uploadTests,
  },
  'run-upload': {
    files: sources('upload/upload-addresses upload/show-upload'),
    tests: uploadTests,
  },
  sync: {
    files: sources('upload/sync'),
    tests: [...uploadTests, ...tests('cli/webhook/refused cli/missing cli/hints')],
  },
  'webhook-secrets': {
    files: sources('upload/secrets'),
    tests: [...uploadTests, ...tests('cli/webhook/verify')],
  },
  figures: { files: sources('lib/output/format'), tests: tests('unit/lib/output/format') },
};
