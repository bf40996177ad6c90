#!/bin/sh
# Runs in both guests of nicloop vm --nodes 2: node 0 pings node 1 and sends it 64 KB over TCP.
# Prints the sum of what was sent and of what has arrived.
cd /tmp || exit
ip link set lo up
ip addr add 10.0.0.$((NICLOOP_NODE + 1))/24 dev eth0
ip link set eth0 up
if [ "$NICLOOP_NODE" = 1 ]; then
  mkfifo open # standard input without an end: nc closes the connection at the end of its input
  nc -l -p 9 <>open >received
  md5sum received
  exit
fi
n=0
until ping -c 1 -W 1 10.0.0.2 >/dev/null; do # the other guest may still boot
  n=$((n + 1))
  [ $n -lt 60 ] || { ip -s link; exit 1; }
done
ping -c 3 10.0.0.2 || exit
head -c 65536 /dev/urandom >sent
md5sum sent
timeout 60 nc 10.0.0.2 9 <sent
