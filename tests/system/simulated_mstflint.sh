#!/bin/sh
# A SIMULATED mstflint: cards whose flash is a file, images that are a line "VERSION PSID". What it prints has the form
# of mstflint 4.x. A card runs what its flash held when this was first asked after a boot.
place=${SIMULATED_MSTFLINT:-/var/lib/simulated-mstflint}
ran=${SIMULATED_MSTFLINT_RAN:-/run/simulated-mstflint}
while [ $# -gt 1 ]; do
    case $1 in
    -d) device=$2; shift ;;
    -i) image=$2; shift ;;
    esac
    shift
done

tell() {
    echo "Image type:            FS4"
    echo "FW Version:            $1"
    [ "$1" = "$3" ] || echo "FW Version(Running):   $3"
    echo "FW Release Date:       28.10.2022"
    echo "Description:           UID                GuidsNumber"
    echo "Base GUID:             N/A                     4"
    echo "PSID:                  $2"
    echo "Security Attributes:   N/A"
}

if [ -n "$image" ] && ! read -r new psid <"$image"; then
    echo "-E- Cannot open Image: $image. not a valid image file"
    exit 1
fi
if [ -z "$device" ]; then
    tell "$new" "$psid" "$new"
    exit 0
fi
[ -d "$place" ] || { mkdir -p "$place" && echo 28.39.1002 >"$place/first"; }
flash=$(cat "$place/$device" 2>/dev/null || cat "$place/first")
mkdir -p "$ran"
[ -e "$ran/$device" ] || echo "$flash" >"$ran/$device"
if [ "$1" = burn ]; then
    [ "$psid" = SIMULATED0001 ] || { echo "-E- Burning FS4 image failed: PSID mismatch"; exit 1; }
    [ ! -e "$place/stuck" ] || { echo "-E- Burning FS4 image failed: Flash write failed"; exit 1; }
    echo "$device $new" >>"$place/log"
    echo "$new" >"$place/$device"
    echo "-I- To load new FW run mlxfwreset or reboot machine."
    exit 0
fi
tell "$flash" SIMULATED0001 "$(cat "$ran/$device")"
