// An API server that plays a recorded stream of pods, over TLS and encoded as kube-apiserver encodes it: by the
// serializers of Kubernetes, as JSON or protobuf, lists compressed where the client takes gzip. Of every other
// resource there is none.
//
//	stream --recording FILE --kubeconfig FILE --pods 50000
//
// It prints the address of its controls: POST /rate?events=N plays N events per second, 0 at first, and GET /sent says
// what was sent.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

func main() {
	recording := flag.String("recording", "", "watch events of pods, one JSON document per line")
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig to write")
	pods := flag.Int("pods", 1000, "pods that stand all the time")
	flag.Parse()
	lives, err := readLives(*recording)
	if err != nil {
		log.Fatal(err)
	}
	cluster := newCluster(lives, *pods)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	certificate, authority := certified()
	if err := writeKubeconfig(*kubeconfig, listener.Addr().String(), authority); err != nil {
		log.Fatal(err)
	}
	var sent atomic.Int64
	server := &http.Server{
		Handler:   &api{cluster: cluster},
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(os.Stderr, "", 0),
	}
	go func() { log.Fatal(server.ServeTLS(counting{listener, &sent}, "", "")) }()
	go cluster.play()

	controls := http.NewServeMux()
	controls.HandleFunc("POST /rate", func(_ http.ResponseWriter, request *http.Request) {
		rate, _ := strconv.Atoi(request.URL.Query().Get("events"))
		cluster.rate.Store(int64(rate))
	})
	controls.HandleFunc("GET /sent", func(response http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(response).Encode(map[string]int64{
			"bytes": sent.Load(), "events": cluster.events.Load(), "event_bytes": cluster.eventBytes.Load(),
			"list_bytes": cluster.listBytes.Load(), "watches": cluster.watches.Load(),
		})
	})
	local, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(local.Addr())
	log.Fatal(http.Serve(local, controls))
}

// Counts what is written to connections, TLS included.
type counting struct {
	net.Listener
	sent *atomic.Int64
}

func (listener counting) Accept() (net.Conn, error) {
	connection, err := listener.Listener.Accept()
	return &countingConn{connection, listener.sent}, err
}

type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

func (connection *countingConn) Write(bytes []byte) (int, error) {
	count, err := connection.Conn.Write(bytes)
	connection.sent.Add(int64(count))
	return count, err
}

// certified makes a certificate for the loopback address, and the authority that signs it.
func certified() (tls.Certificate, []byte) {
	template := func(serial int64) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "stream"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), BasicConstraintsValid: true,
		}
	}
	authority, leaf := template(1), template(2)
	authority.IsCA, authority.KeyUsage = true, x509.KeyUsageCertSign
	leaf.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	signer, signed := key(), key()
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &signer.PublicKey, signer)
	if err != nil {
		log.Fatal(err)
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, &signed.PublicKey, signer)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: signed},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
}

func key() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	return key
}

func writeKubeconfig(path, address string, authority []byte) error {
	document, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "stream",
		"clusters": []any{map[string]any{"name": "stream", "cluster": map[string]any{
			"server": "https://" + address, "certificate-authority-data": authority}}},
		"users":    []any{map[string]any{"name": "stream", "user": map[string]any{"token": "stream"}}},
		"contexts": []any{map[string]any{"name": "stream", "context": map[string]any{"cluster": "stream", "user": "stream"}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, document, 0o600)
}
