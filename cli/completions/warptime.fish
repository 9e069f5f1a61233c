# Completion of warptime for fish. `warptime complete` knows the options; this asks it.
function __warptime_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':folders*'
                __fish_complete_directories "$current" ''
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c warptime -f -a '(__warptime_complete)'
