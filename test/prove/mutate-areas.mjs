const sources = (names) => names.split(' ').map((name) => `src/${name}.ts`);
const area = (files, tests) => ({ files: sources(files), tests: tests.split(' ') });

/**
 * What matters most is mutated, with the tests in this process that are about it: those that start the built program see no mutant. Few
 * tests, and quick ones, since each mutant starts them anew.
 */
export const areas = {
  text: area(
    'api/signed-text commands/comment/sign',
    'unit/commands/comment/signing-rules cli/comment/signing-vectors cli/comment/signing-text cli/comment/sign cli/comment/read cli/comment/ways',
  ),
  signature: area(
    'api/verify-signature api/checksum keys/signer',
    'cli/comment/signing-vectors cli/comment/sign unit/commands/comment/verify unit/commands/comment/signing-rules unit/api/checksum unit/library/signing',
  ),
  post: area('commands/comment/send-comment', 'cli/comment/ways cli/comment/post cli/comment/find-swap'),
  lots: area('sandbox/ledger/positions', 'unit/sandbox/ledger/positions unit/sandbox/ledger/positions-hyperliquid'),
  figures: area('sandbox/ledger/figures lib/output/format', 'unit/sandbox/ledger/figures unit/lib/output/format'),
  retry: area('client/retry', 'unit/client/retry unit/client/failures unit/client/network'),
  outbox: area('lib/outbox', 'unit/lib/outbox'),
  upload: area(
    'upload/send upload/state upload/sync upload/upload-addresses upload/secrets',
    'cli/webhook/upload cli/webhook/sync cli/webhook/upload-once cli/follow/bulk cli/webhook/list',
  ),
  webhook: area('api/webhook-signature api/signature-header', 'cli/webhook/verify unit/api/webhook-signature'),
};
