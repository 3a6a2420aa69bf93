#!/bin/sh
# Makes a certificate authority and a server certificate for `sundown serve --tls-cert … --tls-key …`.
#
# usage: certs/openssl.sh [DIR] [NAME…]
#   DIR    where the files go (default: ./tls); made if it is not there
#   NAME   DNS name or IP address the server is reached by
#          (default: localhost 127.0.0.1 ::1 sundown.sundown-system.svc)
#
# Writes ca.crt, ca.key, tls.crt, tls.key. A CA that is in DIR already is used again if it outlives the new
# certificate, so running the script once more renews tls.crt and tls.key only. Prints the caBundle (base64).
# Needs openssl 3.
set -eu
umask 077

ca_days=1825
leaf_days=90

dir=${1:-tls}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- localhost 127.0.0.1 ::1 sundown.sundown-system.svc

sans=
for name in "$@"; do
  case $name in
    '' | *[!A-Za-z0-9.:*-]*) echo "openssl.sh: '$name' is neither a DNS name nor an IP address" >&2; exit 2 ;;
    *:*) kind=IP ;;                # IPv6
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;                  # digits and dots: IPv4
  esac
  sans=${sans:+$sans,}$kind:$name
done

mkdir -p "$dir"
work=$(mktemp -d "$dir/.new.XXXXXX")   # in DIR, so that the moves below replace files at one stroke
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

cat >"$work/openssl.cnf" <<EOF
[req]
prompt = no
distinguished_name = name
[name]
CN = sundown
[ca]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = $sans
EOF

new_key() {
  openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

certificate() { # section, days, key, output, then what else openssl needs
  section=$1 days=$2 key=$3 out=$4
  shift 4
  openssl req -x509 -new -sha256 -config "$work/openssl.cnf" -extensions "$section" \
    -days "$days" -key "$key" -out "$out" "$@"
}

if [ -s "$dir/ca.key" ] && openssl x509 -in "$dir/ca.crt" -noout -checkend $((leaf_days * 86400)) >/dev/null 2>&1; then
  echo "CA kept: $dir/ca.crt" >&2
else
  new_key "$work/ca.key"
  certificate ca "$ca_days" "$work/ca.key" "$work/ca.crt" -subj "/CN=sundown CA"
  chmod 644 "$work/ca.crt"
  mv "$work/ca.key" "$dir/ca.key"
  mv "$work/ca.crt" "$dir/ca.crt"
  echo "CA made: $dir/ca.crt ($ca_days days)" >&2
fi

new_key "$work/tls.key"
certificate leaf "$leaf_days" "$work/tls.key" "$work/tls.crt" -CA "$dir/ca.crt" -CAkey "$dir/ca.key"
openssl verify -x509_strict -purpose sslserver -CAfile "$dir/ca.crt" "$work/tls.crt" >/dev/null
chmod 644 "$work/tls.crt"
mv "$work/tls.key" "$dir/tls.key"
mv "$work/tls.crt" "$dir/tls.crt"
echo "certificate made: $dir/tls.crt ($leaf_days days, $sans)" >&2

openssl base64 -A -in "$dir/ca.crt"
echo
