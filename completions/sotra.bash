# bash completion for sotra, written by `sotra completion bash`.

# The words that may follow the words of a command.
_sotra_children() {
  case "$1" in
  '') echo 'leaderboard profile follow feed token position comment webhook auth context key alias sandbox history why bundle request ui doctor mcp openapi completion help' ;;
  'leaderboard') echo 'list rank copytraded sections' ;;
  'profile') echo 'get positions followers follows set-name delete-name' ;;
  'follow') echo 'add remove bulk' ;;
  'feed') echo 'actor home' ;;
  'token') echo 'positions comments' ;;
  'position') echo 'get find' ;;
  'comment') echo 'post list copy sign verify' ;;
  'webhook') echo 'register list add-addresses delete validate sync listen forward events show replay verify trigger exam' ;;
  'auth') echo 'login logout status' ;;
  'context') echo 'list show use set remove' ;;
  'key') echo 'generate import list remove export' ;;
  'alias') echo 'set list remove' ;;
  'sandbox') echo 'start stop status log import trade advance simulate reset' ;;
  'history') echo 'list show run clear' ;;
  esac
}

# The flags of a command, beyond those that every command takes.
_sotra_flags() {
  case "$1" in
  'leaderboard list') echo '--chains --only-with-comments --limit --timeframe --viewer-addresses --chart --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'leaderboard rank') echo '--chains --only-with-comments --timeframe --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'leaderboard copytraded') echo '--address --chains --limit --viewer-addresses --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'leaderboard sections') echo '--limit --sections --timeframe --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile get') echo '--viewer-addresses --chart --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile positions') echo '--provided-addresses-only --sort --chains --page --limit --price --prices-file --chart --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile followers') echo '--cursor --limit --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile follows') echo '--cursor --limit --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile set-name') echo '--name --avatar-url --clear --clear-avatar --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'profile delete-name') echo '--dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'follow add') echo '--dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'follow remove') echo '--dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'follow bulk') echo '--file --from-line --report --undo-file --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'feed actor') echo '--chains --limit --include-for-you --min-trade-usd --min-market-cap --max-market-cap --older-than --newer-than --cursor --watch --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'feed home') echo '--chains --limit --only-with-comments --min-trade-usd --older-than --newer-than --cursor --watch --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'token positions') echo '--sort --chains --page --limit --price --prices-file --all --max --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'token comments') echo '--limit --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'position get') echo '--viewer-addresses --price --prices-file --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'position find') echo '--viewer-addresses --price --prices-file --dry-run --curl --timeout --retries --rate --strict --columns --jq --show-nsfw' ;;
  'comment post') echo '--chain --tx --token --text --text-file --last --signature --signer --service-name --layout --key-file --key-env --key-stdin --key --password-file --signer-command --browser --open --ready-file --signed --file --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'comment list') echo '--chain --viewer-addresses --tx --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'comment copy') echo '--token --chain --actor-address --actor-addresses --track-exit-until --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'comment sign') echo '--chain --tx --token --text --text-file --service-name --layout --key-file --key-env --key-stdin --key --password-file --signer-command --browser --open --ready-file --signer --file --out --dry-run --timeout --columns --jq' ;;
  'comment verify') echo '--chain --tx --token --text --text-file --signature --signer --service-name --layout --signed --columns --jq' ;;
  'webhook register') echo '--url --file --wallet-addresses --column --allow-bad-checksum --skip-invalid --rejects --concurrency --secret-file --show-secrets --another --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook list') echo '--show-secrets --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook add-addresses') echo '--file --wallet-addresses --column --allow-bad-checksum --skip-invalid --rejects --concurrency --again --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook delete') echo '--dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook validate') echo '--dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook sync') echo '--url --file --wallet-addresses --column --allow-bad-checksum --skip-invalid --rejects --concurrency --secret-file --show-secrets --check --exact --replace --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'webhook listen') echo '--port --host --secret-file --forward-to --route --tolerance --keep --repeats-within --name --inbox --inbox-creds --replicas --ui --open --ready-file --retries --dry-run' ;;
  'webhook forward') echo '--forward-to --route --name --inbox --inbox-creds --retries --dry-run' ;;
  'webhook events') echo '--type --since --until --address --token --webhook --status --limit --follow --wait --name --inbox --inbox-creds --columns --jq' ;;
  'webhook show') echo '--secret-file --name --inbox --inbox-creds --columns --jq' ;;
  'webhook replay') echo '--since --failed --to --name --inbox --inbox-creds --dry-run --curl --timeout --retries --columns --jq' ;;
  'webhook verify') echo '--secret-file --header --file --tolerance --explain --columns --jq' ;;
  'webhook trigger') echo '--to --secret-file --uid --position --db --dry-run --curl --timeout --columns --jq' ;;
  'webhook exam') echo '--secret-file --junit --timeout --dry-run --columns --jq' ;;
  'auth login') echo '--with-key --offline --store --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'auth logout') echo '--dry-run' ;;
  'auth status') echo '--check --dry-run --curl --timeout --retries --rate --strict --columns --jq' ;;
  'context list') echo '--columns --jq' ;;
  'context show') echo '--columns --jq' ;;
  'context use') echo '--dry-run --columns --jq' ;;
  'context set') echo '--service-name --layout --preset --wire --inbox --inbox-creds --dry-run --columns --jq' ;;
  'context remove') echo '--dry-run' ;;
  'key generate') echo '--chain --password-file --dry-run --columns --jq' ;;
  'key import') echo '--key-file --key-env --key-stdin --password-file --new-password-file --replace --dry-run --columns --jq' ;;
  'key list') echo '--columns --jq' ;;
  'key remove') echo '--dry-run' ;;
  'key export') echo '--out --unencrypted --password-file --dry-run' ;;
  'alias set') echo '--dry-run --columns --jq' ;;
  'alias list') echo '--columns --jq' ;;
  'alias remove') echo '--dry-run' ;;
  'sandbox start') echo '--port --db --empty --as-of --detach --ui --open --ready-file --wire --eligibility --service-name --layout --chains --cors --fault --dry-run' ;;
  'sandbox stop') echo '--ready-file --dry-run --timeout --columns --jq' ;;
  'sandbox status') echo '--db --columns --jq' ;;
  'sandbox log') echo '--limit --ready-file --expect --dry-run --timeout --columns --jq' ;;
  'sandbox import') echo '--chain --preset --map --rejects --own-time --db --dry-run --columns --jq' ;;
  'sandbox trade') echo '--chain --trader --token --side --amount --usd --direction --leverage --tx --db --dry-run --columns --jq' ;;
  'sandbox advance') echo '--db --dry-run --columns --jq' ;;
  'sandbox simulate') echo '--rate --for --seed --db --dry-run --columns --jq' ;;
  'sandbox reset') echo '--empty --as-of --db --dry-run --columns --jq' ;;
  'history list') echo '--failed --limit --columns --jq' ;;
  'history show') echo '--har --jq' ;;
  'history run') echo '--dry-run --curl --timeout --retries --rate --strict --jq' ;;
  'history clear') echo '--dry-run' ;;
  'why') echo '--jq' ;;
  'bundle') echo '--out --dry-run --timeout --retries --columns --jq' ;;
  'request') echo '--query --data --paginate --dry-run --curl --timeout --retries --rate --strict --jq' ;;
  'ui') echo '--open --ready-file --dry-run' ;;
  'doctor') echo '--dry-run --curl --timeout --columns --jq' ;;
  'mcp') echo '--config --tools --allow-writes --allow-signing --key --password-file --secret-file --dry-run --timeout --retries' ;;
  'openapi') echo '--jq' ;;
  'help') echo '--jq' ;;
  esac
}

# What may stand in a place: `<command> --flag`, or `<command> 1` for the first argument.
_sotra_values() {
  case "$1" in
  'leaderboard list --chains') echo 'base solana ethereum hyperliquid @list' ;;
  'leaderboard list --timeframe') echo '7d 30d' ;;
  'leaderboard list --viewer-addresses') echo '@aliases @list' ;;
  'leaderboard list --columns') echo 'rank name pnlUsd baseUsd solanaUsd ethereumUsd hyperliquidUsd roiPercent30d winRate30d trades30d roiPercent7d winRate7d trades7d hasComments isFollowedByUser address addresses profileId @list' ;;
  'leaderboard rank --chains') echo 'base solana ethereum hyperliquid @list' ;;
  'leaderboard rank --timeframe') echo '7d 30d' ;;
  'leaderboard rank --columns') echo 'ranking pnlUsd baseUsd solanaUsd ethereumUsd hyperliquidUsd @list' ;;
  'leaderboard rank 1') echo '@aliases' ;;
  'leaderboard copytraded --address') echo '@aliases' ;;
  'leaderboard copytraded --chains') echo 'base solana ethereum hyperliquid @list' ;;
  'leaderboard copytraded --viewer-addresses') echo '@aliases @list' ;;
  'leaderboard copytraded --columns') echo 'rank name copiedUsd copies copiers pnlUsd roiPercent30d comments30d isFollowedByUser address addresses profileId @list' ;;
  'leaderboard sections --timeframe') echo '7d 30d' ;;
  'leaderboard sections --columns') echo 'section name commenter value pnl30dUsd pnl7dUsd address @list' ;;
  'profile get --viewer-addresses') echo '@aliases @list' ;;
  'profile get --columns') echo 'name id status handles addresses externalId followers following comments copiedUsd holdingMinutes nsfw isFollowedByUser pnl7dUsd pnl30dUsd @list' ;;
  'profile get 1') echo '@aliases' ;;
  'profile positions --sort') echo 'value latest' ;;
  'profile positions --chains') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid all @list' ;;
  'profile positions --prices-file') echo '@files' ;;
  'profile positions --columns') echo 'trader token chain side realizedUsd amount costUsd priceUsd unrealizedUsd totalUsd unrealizedWithReceivedUsd boughtUsd soldUsd comments lastTradeAt status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'profile positions 1') echo '@aliases' ;;
  'profile positions 2') echo 'open closed' ;;
  'profile followers --columns') echo 'name twitter pnl30dUsd roiPercent30d winRate30d trades30d comments30d address addresses farcaster externalId profileId pnl7dUsd roiPercent7d winRate7d trades7d @list' ;;
  'profile followers 1') echo '@aliases' ;;
  'profile follows --columns') echo 'name twitter pnl30dUsd roiPercent30d winRate30d trades30d comments30d address addresses farcaster externalId profileId pnl7dUsd roiPercent7d winRate7d trades7d @list' ;;
  'profile follows 1') echo '@aliases' ;;
  'profile set-name --columns') echo 'name id handles addresses externalId nsfw isFollowedByUser pnl7dUsd pnl30dUsd avatarUrl @list' ;;
  'profile set-name 1') echo '@aliases' ;;
  'profile delete-name --columns') echo 'name id handles addresses externalId nsfw isFollowedByUser pnl7dUsd pnl30dUsd avatarUrl @list' ;;
  'profile delete-name 1') echo '@aliases' ;;
  'follow add --columns') echo 'name twitter pnl30dUsd roiPercent30d winRate30d trades30d comments30d address addresses farcaster externalId profileId pnl7dUsd roiPercent7d winRate7d trades7d @list' ;;
  'follow add 1') echo '@aliases' ;;
  'follow add '[2-9]*) echo '@aliases' ;;
  'follow remove --columns') echo 'name twitter pnl30dUsd roiPercent30d winRate30d trades30d comments30d address addresses farcaster externalId profileId pnl7dUsd roiPercent7d winRate7d trades7d @list' ;;
  'follow remove 1') echo '@aliases' ;;
  'follow remove '[2-9]*) echo '@aliases' ;;
  'follow bulk --file') echo '@files' ;;
  'follow bulk --undo-file') echo '@files' ;;
  'follow bulk --columns') echo 'entries follows unfollows requests targets undoFile @list' ;;
  'feed actor --chains') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid all @list' ;;
  'feed actor --min-trade-usd') echo '10 100 500 1000' ;;
  'feed actor --min-market-cap') echo '100000 1000000 10000000' ;;
  'feed actor --max-market-cap') echo '100000 1000000 10000000' ;;
  'feed actor --columns') echo 'lastTradeAt trader token latest latestUsd forYou chain side realizedUsd amount costUsd boughtUsd soldUsd comments status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'feed actor 1') echo '@aliases' ;;
  'feed home --chains') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid all @list' ;;
  'feed home --min-trade-usd') echo '10 100 500 1000' ;;
  'feed home --columns') echo 'lastTradeAt trader token latest latestUsd forYou chain side realizedUsd amount costUsd boughtUsd soldUsd comments status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'feed home '[1-9]*) echo '@aliases' ;;
  'token positions --sort') echo 'value latest' ;;
  'token positions --chains') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid all @list' ;;
  'token positions --prices-file') echo '@files' ;;
  'token positions --columns') echo 'trader token chain side realizedUsd amount costUsd priceUsd unrealizedUsd totalUsd unrealizedWithReceivedUsd boughtUsd soldUsd comments lastTradeAt status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'token positions 1') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'token positions 2') echo '@aliases' ;;
  'token positions 3') echo 'open closed' ;;
  'token comments --columns') echo 'at author direction usd text holding realizedUsd likes copies side tokenCommentCount address transactionHash uid itemId @list' ;;
  'token comments 1') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'token comments 2') echo '@aliases' ;;
  'position get --viewer-addresses') echo '@aliases @list' ;;
  'position get --prices-file') echo '@files' ;;
  'position get --columns') echo 'trader token chain side realizedUsd amount costUsd priceUsd unrealizedUsd totalUsd unrealizedWithReceivedUsd boughtUsd soldUsd comments lastTradeAt status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'position find --viewer-addresses') echo '@aliases @list' ;;
  'position find --prices-file') echo '@files' ;;
  'position find --columns') echo 'trader token chain side realizedUsd amount costUsd priceUsd unrealizedUsd totalUsd unrealizedWithReceivedUsd boughtUsd soldUsd comments lastTradeAt status leverage amountWithLeverage copies likes replies buyers24h unavailable address tokenAddress transactionHash itemId @list' ;;
  'position find 1') echo '@aliases' ;;
  'position find 2') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'position find 3') echo '@aliases' ;;
  'comment post --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'comment post --token') echo '@aliases' ;;
  'comment post --text-file') echo '@files' ;;
  'comment post --signer') echo '@aliases' ;;
  'comment post --layout') echo 'five-line blank-line' ;;
  'comment post --key-file') echo '@files' ;;
  'comment post --key') echo '@keys' ;;
  'comment post --password-file') echo '@files' ;;
  'comment post --ready-file') echo '@files' ;;
  'comment post --file') echo '@files' ;;
  'comment post --columns') echo 'uid time signer text chain token tx copies copiedUsd likes isAppUserComment @list' ;;
  'comment list --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'comment list --viewer-addresses') echo '@aliases @list' ;;
  'comment list --columns') echo 'time signer text chain token tx copies copiedUsd likes isAppUserComment uid @list' ;;
  'comment copy --token') echo '@aliases' ;;
  'comment copy --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'comment copy --actor-address') echo '@aliases' ;;
  'comment copy --actor-addresses') echo '@aliases @list' ;;
  'comment copy --columns') echo 'intentId @list' ;;
  'comment sign --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'comment sign --token') echo '@aliases' ;;
  'comment sign --text-file') echo '@files' ;;
  'comment sign --layout') echo 'five-line blank-line' ;;
  'comment sign --key-file') echo '@files' ;;
  'comment sign --key') echo '@keys' ;;
  'comment sign --password-file') echo '@files' ;;
  'comment sign --ready-file') echo '@files' ;;
  'comment sign --signer') echo '@aliases' ;;
  'comment sign --file') echo '@files' ;;
  'comment sign --columns') echo 'signature signerAddress chain tokenAddress transactionHash commentText serviceName layout message @list' ;;
  'comment verify --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'comment verify --token') echo '@aliases' ;;
  'comment verify --text-file') echo '@files' ;;
  'comment verify --signer') echo '@aliases' ;;
  'comment verify --layout') echo 'five-line blank-line' ;;
  'comment verify --columns') echo 'valid recoveredAddress signerAddress reason @list' ;;
  'webhook register --file') echo '@files' ;;
  'webhook register --wallet-addresses') echo '@aliases @list' ;;
  'webhook register --rejects') echo '@files' ;;
  'webhook register --secret-file') echo '@files' ;;
  'webhook register --columns') echo 'uid destinationUrl addresses chunks duplicates rejected secretFile @list' ;;
  'webhook list --columns') echo 'uid destinationUrl secret @list' ;;
  'webhook add-addresses --file') echo '@files' ;;
  'webhook add-addresses --wallet-addresses') echo '@aliases @list' ;;
  'webhook add-addresses --rejects') echo '@files' ;;
  'webhook add-addresses --columns') echo 'uid destinationUrl addresses chunks duplicates rejected secretFile @list' ;;
  'webhook delete --columns') echo 'uid state @list' ;;
  'webhook validate --columns') echo 'success error @list' ;;
  'webhook sync --file') echo '@files' ;;
  'webhook sync --wallet-addresses') echo '@aliases @list' ;;
  'webhook sync --rejects') echo '@files' ;;
  'webhook sync --secret-file') echo '@files' ;;
  'webhook sync --columns') echo 'uid wanted missing sent notRemovable @list' ;;
  'webhook listen --secret-file') echo '@files @list' ;;
  'webhook listen --ready-file') echo '@files' ;;
  'webhook events --address') echo '@aliases' ;;
  'webhook events --token') echo '@aliases' ;;
  'webhook events --status') echo 'forwarded waiting failed' ;;
  'webhook events --columns') echo 'receivedAt eventType about eventId status path webhook @list' ;;
  'webhook show --secret-file') echo '@files @list' ;;
  'webhook show --columns') echo 'eventId eventType receivedAt about webhook status verification @list' ;;
  'webhook replay --columns') echo 'eventId eventType taken status error @list' ;;
  'webhook verify --secret-file') echo '@files @list' ;;
  'webhook verify --file') echo '@files' ;;
  'webhook verify --columns') echo 'valid reason timestamp ageSec eventIds expected @list' ;;
  'webhook trigger --secret-file') echo '@files' ;;
  'webhook trigger --db') echo '@files' ;;
  'webhook trigger --columns') echo 'eventId destinationUrl delivered status error @list' ;;
  'webhook trigger 1') echo 'new-feed-item comment-created copyswap' ;;
  'webhook exam --secret-file') echo '@files' ;;
  'webhook exam --columns') echo 'case sent answer expected verdict status @list' ;;
  'auth login --store') echo 'keychain file' ;;
  'auth login --columns') echo 'context baseUrl keySuffix keySource store valid @list' ;;
  'auth status --columns') echo 'context baseUrl keySuffix keySource store valid @list' ;;
  'context list --columns') echo 'name current baseUrl key serviceName layout inbox wire sources @list' ;;
  'context show --columns') echo 'name current baseUrl key serviceName layout inbox wire sources @list' ;;
  'context show 1') echo '@contexts' ;;
  'context use --columns') echo 'name current baseUrl key serviceName layout inbox wire sources @list' ;;
  'context use 1') echo '@contexts' ;;
  'context set --layout') echo 'five-line blank-line' ;;
  'context set --preset') echo 'sandbox clicker' ;;
  'context set --columns') echo 'name current baseUrl key serviceName layout inbox wire sources @list' ;;
  'context set 1') echo '@contexts' ;;
  'context remove 1') echo '@contexts' ;;
  'key generate --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'key generate --password-file') echo '@files' ;;
  'key generate --columns') echo 'name family address file backup @list' ;;
  'key generate 1') echo '@keys' ;;
  'key import --key-file') echo '@files' ;;
  'key import --password-file') echo '@files' ;;
  'key import --new-password-file') echo '@files' ;;
  'key import --columns') echo 'name family address file backup @list' ;;
  'key import 1') echo '@keys' ;;
  'key list --columns') echo 'name family address file backup @list' ;;
  'key remove 1') echo '@keys' ;;
  'key export --password-file') echo '@files' ;;
  'key export 1') echo '@keys' ;;
  'alias set --columns') echo 'alias identifier @list' ;;
  'alias set 2') echo '@aliases' ;;
  'alias list --columns') echo 'alias identifier @list' ;;
  'alias remove 1') echo '@aliases' ;;
  'sandbox start --db') echo '@files' ;;
  'sandbox start --ready-file') echo '@files' ;;
  'sandbox start --eligibility') echo 'any public' ;;
  'sandbox start --layout') echo 'five-line blank-line' ;;
  'sandbox stop --ready-file') echo '@files' ;;
  'sandbox stop --columns') echo 'url pid db stopped @list' ;;
  'sandbox status --db') echo '@files' ;;
  'sandbox status --columns') echo 'db world now frozen newestTrade trades traders positions tokens comments webhooks waiting failed keys @list' ;;
  'sandbox log --ready-file') echo '@files' ;;
  'sandbox log --columns') echo 'time method path status ms partner key ignored error fault @list' ;;
  'sandbox import --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'sandbox import --preset') echo 'hyperliquid-fills pumpfun' ;;
  'sandbox import --rejects') echo '@files' ;;
  'sandbox import --db') echo '@files' ;;
  'sandbox import --columns') echo 'rows imported repeated rejected traders tokens oldest newest @list' ;;
  'sandbox import 1') echo '@files' ;;
  'sandbox trade --chain') echo 'ethereum optimism polygon arbitrum zora base zero solana hyperliquid' ;;
  'sandbox trade --trader') echo '@aliases' ;;
  'sandbox trade --token') echo '@aliases' ;;
  'sandbox trade --side') echo 'buy sell' ;;
  'sandbox trade --direction') echo 'long short' ;;
  'sandbox trade --db') echo '@files' ;;
  'sandbox trade --columns') echo 'chain trader token side amount usd timestamp transactionHash positionId deliveries waiting @list' ;;
  'sandbox advance --db') echo '@files' ;;
  'sandbox advance --columns') echo 'db world now frozen newestTrade trades traders positions tokens comments webhooks waiting failed keys @list' ;;
  'sandbox simulate --db') echo '@files' ;;
  'sandbox simulate --columns') echo 'trades deliveries waiting seconds @list' ;;
  'sandbox reset --db') echo '@files' ;;
  'sandbox reset --columns') echo 'db world now frozen newestTrade trades traders positions tokens comments webhooks waiting failed keys @list' ;;
  'history list --columns') echo 'n id at status command method path error warning ms context errorCode attempt requestId baseUrl @list' ;;
  'bundle --columns') echo 'sotra settings doctor failedCalls last bytes file @list' ;;
  'request 1') echo 'GET POST PUT PATCH DELETE' ;;
  'ui --ready-file') echo '@files' ;;
  'doctor --columns') echo 'node settings service key reach tls clock sandbox @list' ;;
  'mcp --key') echo '@keys' ;;
  'mcp --password-file') echo '@files' ;;
  'mcp --secret-file') echo '@files @list' ;;
  'completion 1') echo 'bash zsh fish powershell' ;;
  *' --context') echo '@contexts' ;;
  *' --format') echo 'table json ndjson csv tsv' ;;
  esac
}

# Asks the program for names; to be called in a subshell, which is all that the key is taken from. Some of them others gave: only those are
# offered that hold nothing a shell would read.
_sotra_names() {
  unset SOTRA_API_KEY
  local LC_ALL=C name
  "$@" 2>/dev/null | while IFS= read -r name; do
    case "$name" in '' | -* | *[!A-Za-z0-9_.:@/-]*) ;; *) echo "$name" ;; esac
  done
}

_sotra() {
  COMPREPLY=()
  local line="${COMP_LINE:0:COMP_POINT}" current='' before='' here='' skip='' word slot=1 found='' candidates='' lead=''
  local IFS=$' \t\n' globbing=+f
  # What is typed may be a secret, and before bash 5.1 a here-string is a file.
  [[ $- == *f* ]] && globbing=-f
  set -f
  local -a words=($line)
  set "$globbing"
  # readline breaks words at = : and @ as well; here a word is what stands between spaces.
  [[ $line == *[[:space:]] ]] && words+=('')
  current="${words[${#words[@]} - 1]}"
  for word in "${words[@]:1:${#words[@]} - 2}"; do
    if [[ -n $skip ]]; then
      skip=''
      continue
    fi
    before=''
    case "$word" in
    --*=*) ;;
    -*)
      case ' --actor-address --actor-addresses --address --amount --as-of --avatar-url --base-url --chain --chains --column --columns --concurrency --context --cors --cursor --data --db --direction --eligibility --expect --fault --file --for --format --forward-to --from-line --header --host --inbox --inbox-creds --jq --junit --keep --key --key-env --key-file --layout --leverage --limit --map --max --max-market-cap --min-market-cap --min-trade-usd --name --new-password-file --newer-than --older-than --out --page --password-file --port --position --preset --price --prices-file --query --rate --ready-file --rejects --repeats-within --replicas --report --retries --route --secret-file --sections --seed --service-name --side --signature --signed --signer --signer-command --since --sort --status --store --text --text-file --timeframe --timeout --to --token --tolerance --tools --track-exit-until --trader --tx --type --uid --undo-file --until --url --usd --viewer-addresses --wait --wallet-addresses --watch --webhook --wire -d -q ' in *" $word "*) skip=1 before="$word" ;; esac
      ;;
    *)
      case " $(_sotra_children "$here") " in
      *" $word "*) here="${here:+$here }$word" ;;
      *) slot=$((slot + 1)) ;;
      esac
      ;;
    esac
  done
  if [[ -n $skip ]]; then
    found="$(_sotra_values "$here $before")"
  elif [[ $current == --*=* ]]; then
    found="$(_sotra_values "$here ${current%%=*}")"
    lead="${current%%=*}="
  elif [[ $current == -* ]]; then
    candidates="$(_sotra_flags "$here") --context --sandbox --base-url --format --json --no-color --verbose --quiet --yes --no-input --help"
  else
    candidates="$(_sotra_children "$here")"
    [[ -z $candidates ]] && found="$(_sotra_values "$here $slot")"
  fi
  case " $found " in
  *' @files '*)
    compopt -o default 2>/dev/null
    return
    ;;
  *' @list '*) [[ $current == *,* ]] && lead="${current%,*}," ;;
  esac
  case " $found " in *' @contexts '*) found="$found $(_sotra_names "${words[0]}" context list --columns name)" ;; esac
  case " $found " in *' @aliases '*) found="$found $(_sotra_names "${words[0]}" alias list --columns alias)" ;; esac
  case " $found " in *' @keys '*) found="$found $(_sotra_names "${words[0]}" key list --columns name)" ;; esac
  # Of a list, what it holds already is not offered again.
  local held=''
  [[ $lead == *, ]] && held="${lead#--*=}"
  for word in $found; do
    case ",$held" in *",$word,"*) continue ;; esac
    case "$word" in @contexts | @aliases | @keys | @list) ;; *) candidates="$candidates $lead$word" ;; esac
  done
  # What readline takes for the word ends at its last break; only the rest of a candidate is put in its place.
  local rest="$current" drop=0 at
  for ((at = 0; at < ${#current}; at++)); do
    case "$COMP_WORDBREAKS" in *"${current:at:1}"*) [[ ${current:at:1} != @ ]] && drop=$((at + 1)) ;; esac
  done
  for word in $candidates; do
    [[ $word == "$rest"* ]] || continue
    case " ${COMPREPLY[*]} " in *" ${word:drop} "*) ;; *) COMPREPLY+=("${word:drop}") ;; esac
  done
}

complete -F _sotra sotra
