import { type CommandTree, nameLists, type Slot, type TreeNode } from './tree.ts';

/** The completion script for PowerShell 5.1 and 7. */
export function powershellScript({ nodes, globals, valued }: CommandTree): string {
  return `# PowerShell completion for sotra, written by \`sotra completion powershell\`.
Register-ArgumentCompleter -Native -CommandName sotra -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $children = @{
${nodes.flatMap(childrenLine).join('\n')}
  }
  $flags = @{
${nodes.flatMap(flagsLine).join('\n')}
  }
  # What may stand in a place: a command and a flag, or a command and the number of an argument. Names such as @contexts are asked for; some were given by others, and only plain ones are offered.
  $values = @{
${[...nodes.flatMap(valueLines), ...globals.flatMap((slot) => valueLine(`* ${slot.flag}`, slot))].join('\n')}
  }
  $global = [ordered]@{ ${globals.map(({ flag, help }) => `${quote(flag)} = ${quote(help)}`).join('; ')}; '--help' = 'show help' }
  $valued = @(${valued.map(quote).join(', ')})
  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  $program = $before[0]
  $here = ''
  $slot = 1
  $flag = ''
  foreach ($word in ($before | Select-Object -Skip 1)) {
    if ($flag) { $flag = ''; continue }
    if ($word -like '--*=*') { continue }
    if ($word -like '-*') { if ($valued -ccontains $word) { $flag = $word }; continue }
    if ($children.Contains($here) -and $children[$here].Contains($word)) { $here = "$here $word".Trim() } else { $slot++ }
  }
  $place = ''
  $lead = ''
  if ($flag) { $place = $flag }
  elseif ($wordToComplete -like '--*=*') { $place = $wordToComplete.Split('=')[0]; $lead = "$place=" }
  elseif ($wordToComplete -like '-*') {
    foreach ($set in @($flags[$here], $global)) {
      if (-not $set) { continue }
      foreach ($name in $set.Keys) {
        if ($name -like "$wordToComplete*") { [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterName', $set[$name]) }
      }
    }
    return
  }
  elseif ($children.Contains($here)) {
    foreach ($name in $children[$here].Keys) {
      if ($name -like "$wordToComplete*") { [System.Management.Automation.CompletionResult]::new($name, $name, 'Command', $children[$here][$name]) }
    }
    return
  }
  else { $place = "$slot" }
  $found = @($values["$here $place"]) + @($values["* $place"]) | Where-Object { $_ }
  if (-not $found) {
    $rest = $slot
    while ($rest -gt 1 -and -not $found) { $found = @($values["$here $rest+"]) | Where-Object { $_ }; $rest-- }
  }
  if ($found -contains '@list' -and $wordToComplete.Contains(',')) {
    $lead = $wordToComplete.Substring(0, $wordToComplete.LastIndexOf(',') + 1)
  }
  foreach ($name in $found) {
    $names = switch ($name) {
${Object.entries(nameLists)
  .map(
    ([name, line]) =>
      `      '@${name}' { & $program ${line} 2>$null | Where-Object { $_ -cmatch '^[A-Za-z0-9_.:@/][A-Za-z0-9_.:@/-]*$' } }`,
  )
  .join('\n')}
      '@list' { }
      default { $name }
    }
    foreach ($each in $names) {
      # An @ at the start of a bare word is PowerShell's own.
      if ("$lead$each" -like "$($wordToComplete.Trim("'"))*") {
        $text = if ($each -like '@*') { "'$each'" } else { "$lead$each" }
        [System.Management.Automation.CompletionResult]::new($text, $each, 'ParameterValue', $each)
      }
    }
  }
}
`;
}

function childrenLine({ path, children }: TreeNode): string[] {
  if (children.length === 0) return [];
  const words = children.map(({ word, help }) => `${quote(word)} = ${quote(help)}`);
  return [`    ${quote(path)} = [ordered]@{ ${words.join('; ')} }`];
}

function flagsLine({ path, flags }: TreeNode): string[] {
  if (flags.length === 0) return [];
  const words = flags.map(({ flag, help }) => `${quote(flag)} = ${quote(help)}`);
  return [`    ${quote(path)} = [ordered]@{ ${words.join('; ')} }`];
}

function valueLines({ path, places }: TreeNode): string[] {
  return places.flatMap((slot) => valueLine(`${path} ${slot.at}${slot.rest ? '+' : ''}`, slot));
}

function valueLine(place: string, { values, names, list }: Slot): string[] {
  const words = [...values, ...(names === undefined ? [] : [`@${names}`])];
  if (words.length === 0) return [];
  return [`    ${quote(place)} = @(${[...words, ...(list ? ['@list'] : [])].map(quote).join(', ')})`];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
